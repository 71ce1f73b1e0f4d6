// Made from the server's OpenAPI document by `npm run types`; do not edit.
/** Operations that the server knows but refuses: what they would do is not shown. */
export const LATER: readonly string[] = [
  "CreateGenericTask",
  "DeleteTensorboardFiles",
  "GetCommands",
  "GetNotebooks",
  "GetShells",
  "GetTensorboards",
  "GetWebhooks",
  "LaunchCommand",
  "LaunchNotebook",
  "LaunchShell",
  "LaunchTensorboard",
  "PostWebhook",
  "PostWebhookEventData",
  "PutExperimentRetainLogs",
  "PutTrialRetainLogs",
  "ReportTrialSourceInfo"
];
