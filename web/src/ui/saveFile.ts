/** Lets the browser save what an address behind the token gives. */
import { refusal, send } from "../api/http";

const KEPT_MS = 10_000;

export async function saveFile(path: string, name: string): Promise<void> {
  const response = await send("GET", path);
  if (!response.ok) throw await refusal(response);
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}
