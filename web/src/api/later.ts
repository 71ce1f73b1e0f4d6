// Made from the server's OpenAPI document by `npm run types`; do not edit.
/** Operations that the server knows but refuses: what they would do is not shown. */
export const LATER: readonly string[] = [
  "CreateGenericTask",
  "DeleteTensorboardFiles",
  "GetCommands",
  "GetModel",
  "GetModelLabels",
  "GetModels",
  "GetNotebooks",
  "GetShells",
  "GetTensorboards",
  "GetWebhooks",
  "LaunchCommand",
  "LaunchNotebook",
  "LaunchShell",
  "LaunchTensorboard",
  "PostModel",
  "PostWebhook",
  "PostWebhookEventData",
  "PutExperimentRetainLogs",
  "PutTrialRetainLogs",
  "ReportTrialSourceInfo"
];
