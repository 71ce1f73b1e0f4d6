/** Pages of notebooks and TensorBoards: the server's, not of this app. The server leads who opens one to the sign-in. */

const PAGE = /^\/(proxy|det\/interactive)\/[^/\\]+(\/|$)/;

export function isOfTask(address: string): boolean {
  return PAGE.test(address);
}

/** Leaves the app; there is no way back to the sign-in. */
export function openTask(address: string): void {
  window.location.replace(address);
}
