/** The accounts of the store that `npm run bench` makes: named by their number, so that a load can name them too. */
import {hash} from "node:crypto";

/** @returns 40 digits, without 0x */
export function numberedAddress(i: number): string {
  return hash("sha256", `account ${i}`).slice(0, 40);
}
