/** Which accounts and slots the calls name: listed ones, or by number. */

import {hash} from "node:crypto";
import {count} from "../report/figureText.ts";

/** An account that the server's chain has; all text in lower case. */
export interface KnownAccount {
  readonly address: string;
  /** Slots to ask for. If a call needs more, they are made up. */
  readonly slots: readonly string[];
}

export interface ListedKeys {
  readonly kind: "list";
  /** Where they come from, for the report. */
  readonly name: string;
  /** Empty if only absent accounts are asked for. */
  readonly accounts: readonly KnownAccount[];
}

export type Keys =
  | ListedKeys
  /** Accounts 0 .. count - 1 of the store that `npm run bench` makes (numberedAddress). */
  | {readonly kind: "numbered"; readonly count: number};

/** Account `i` of the store that `npm run bench` makes. @returns 40 digits, without 0x */
export function numberedAddress(i: number): string {
  return hash("sha256", `account ${i}`).slice(0, 40);
}

/** For the report. */
export function describeKeys(keys: Keys): string {
  if (keys.kind === "numbered") return `${count(keys.count, "account")} by number`;
  const {accounts, name} = keys;
  return accounts.length === 0 ? "absent accounts only" : `${count(accounts.length, "account")} of ${name}`;
}
