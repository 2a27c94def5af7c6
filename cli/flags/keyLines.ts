/** Accounts and slots of a file for --keys: one `0xaddress [0xslot ...]` per line. */

/** In lower case. */
interface KeyLine {
  readonly address: string;
  /** 32 bytes each. */
  readonly slots: readonly string[];
}

const MAX_ACCOUNTS = 1_000_000;

/** Ignores empty lines, and the rest of a line after #. @throws Error that names the line and what is wrong with it */
export function parseKeys(text: string): KeyLine[] {
  const accounts: KeyLine[] = [];
  for (const [i, line] of text.split("\n").entries()) {
    const account = parseKeyLine(line, i + 1);
    if (account === undefined) continue;
    if (accounts.length === MAX_ACCOUNTS)
      throw new Error(`line ${i + 1}: more than ${MAX_ACCOUNTS} accounts`);
    accounts.push(account);
  }
  if (accounts.length === 0) throw new Error("it has no account");
  return accounts;
}

/** @returns undefined for a line without an address. @throws Error that names the line and what is wrong with it */
export function parseKeyLine(line: string, lineNumber: number): KeyLine | undefined {
  const words = line.replace(/#.*/, "").trim().split(/\s+/);
  const [address, ...slots] = words as [string, ...string[]];
  if (address === "") return undefined;
  const refuse = (expected: string, got: string): Error =>
    new Error(
      `line ${lineNumber}: expected ${expected}, got '${got.length <= 80 ? got : `${got.slice(0, 77)}...`}'`,
    );
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw refuse("an address (0x and 40 hex digits)", address);
  const bad = slots.find(slot => !/^0x[0-9a-fA-F]{1,64}$/.test(slot));
  if (bad !== undefined) throw refuse("a slot (0x and 1 to 64 hex digits)", bad);
  return {address: address.toLowerCase(), slots: slots.map(padSlot)};
}

/** Pads a slot to 32 bytes, which every server accepts. */
export function padSlot(slot: string): string {
  return `0x${slot.slice(2).toLowerCase().padStart(64, "0")}`;
}
