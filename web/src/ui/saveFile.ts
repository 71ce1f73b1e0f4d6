/** Lets the browser save what an address behind the token gives. */
import { open, type Address } from "../api/client";

const KEPT_MS = 10_000;

export async function saveFile(from: Address, name: string): Promise<void> {
  const response = await open(from);
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}
