/** Lets the browser save what an address behind the token gives, or a text. */
import { open, type Address } from "../api/client";

const KEPT_MS = 10_000;

export async function saveFile(from: Address, name: string): Promise<void> {
  const response = await open(from);
  save(await response.blob(), name);
}

export function saveText(text: string, name: string, type = "text/plain"): void {
  save(new Blob([text], { type }), name);
}

function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}
