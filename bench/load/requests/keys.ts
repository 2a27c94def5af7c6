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

const MAX_ACCOUNTS = 1_000_000;

/**
 * Parses lines of the form `0xaddress [0xslot ...]`. Ignores empty lines and the rest of a line after #.
 *
 * @throws Error that names the line and what is wrong with it
 */
export function parseKeys(text: string): KnownAccount[] {
  const accounts: KnownAccount[] = [];
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const words = ((lines[i] as string).split("#")[0] as string).trim().split(/\s+/);
    const [address, ...slots] = words as [string, ...string[]];
    if (address === "") continue;
    if (!/^0x[0-9a-fA-F]{40}$/.test(address))
      throw new Error(`line ${i + 1}: expected an address (0x and 40 hex digits), got '${shorten(address)}'`);
    const bad = slots.find(slot => !/^0x[0-9a-fA-F]{1,64}$/.test(slot));
    if (bad !== undefined)
      throw new Error(`line ${i + 1}: expected a slot (0x and 1 to 64 hex digits), got '${shorten(bad)}'`);
    if (accounts.length === MAX_ACCOUNTS)
      throw new Error(`line ${i + 1}: more than ${MAX_ACCOUNTS} accounts`);
    accounts.push({address: address.toLowerCase(), slots: slots.map(padSlot)});
  }
  if (accounts.length === 0) throw new Error("it names no account");
  return accounts;
}

/** Account `i` of the store that `npm run bench` makes. @returns 40 digits, without 0x */
export function numberedAddress(i: number): string {
  return hash("sha256", `account ${i}`).slice(0, 40);
}

/** Pads a slot to 32 bytes, which every server accepts. */
export function padSlot(slot: string): string {
  return `0x${slot.slice(2).toLowerCase().padStart(64, "0")}`;
}

function shorten(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}
