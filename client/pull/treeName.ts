/** Which trees a pull is about: "accounts", "all" or an address. */
export const ACCOUNTS = "accounts";
export const ALL = "all";
const ADDRESS = /^0x[0-9a-f]{40}$/;

/** @returns the name in lower case. @throws TypeError */
export function readTreeName(tree: string): string {
  const name = String(tree).toLowerCase();
  if (name === ACCOUNTS || name === ALL || ADDRESS.test(name)) return name;
  throw new TypeError(`tree: expected "accounts", "all" or an address of 0x and 40 digits, got ${tree}`);
}
