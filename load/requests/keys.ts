/** The accounts and slots that calls ask for: listed or numbered ones. */

import {hash} from "node:crypto";
import {count} from "../report/figureText.ts";

/** An account that exists on the server's chain. Lower-case hex. */
export interface KnownAccount {
  readonly address: string;
  /** Slots that exist. A call that needs more adds random ones. */
  readonly slots: readonly string[];
}

export interface ListedKeys {
  readonly kind: "list";
  /** Source of the accounts, for the report. */
  readonly name: string;
  /** Empty if only absent accounts are asked for. */
  readonly accounts: readonly KnownAccount[];
}

export type Keys =
  | ListedKeys
  /** Accounts 0 .. count - 1 of the store that `npm run bench` makes (numberedAddress). */
  | {readonly kind: "numbered"; readonly count: number};

/** Address of account `i` of the store that `npm run bench` makes. @returns 40 hex digits without 0x */
export function numberedAddress(i: number): string {
  return hash("sha256", `account ${i}`).slice(0, 40);
}

export function describeKeys(keys: Keys): string {
  if (keys.kind === "numbered") return `${count(keys.count, "account")} by number`;
  const {accounts, name} = keys;
  return accounts.length === 0 ? "absent accounts only" : `${count(accounts.length, "account")} of ${name}`;
}
