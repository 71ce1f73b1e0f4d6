/** Whether the server does something yet. What it would refuse is left out of menus rather than shown and refused. */
import { LATER } from "./later";

export const offers = (operation: string): boolean => !LATER.includes(operation);
