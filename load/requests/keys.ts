/** Which accounts and slots the calls name: from a file, by number, or known from the server's chain. */
import {hash} from "node:crypto";

/** An account that the server's chain has; all text in lower case. */
export interface KnownAccount {
  readonly address: string;
  /** Slots to ask for. If a call needs more, they are made up. */
  readonly slots: readonly string[];
}

export type Keys =
  | {readonly kind: "list"; readonly accounts: readonly KnownAccount[]}
  /** Accounts 0 .. count - 1 of the store that `npm run bench` makes (numberedAddress). */
  | {readonly kind: "numbered"; readonly count: number};

/** Account `i` of the store that `npm run bench` makes. @returns 40 digits, without 0x */
export function numberedAddress(i: number): string {
  return hash("sha256", `account ${i}`).slice(0, 40);
}
