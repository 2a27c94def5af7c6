/** The compiled contracts, which are committed in artefacts.json. */
export const ARTEFACTS = new URL("contracts/artefacts.json", import.meta.resolve("#package/package.json"));

export interface Artefact {
  readonly abi: readonly unknown[];
  /** Creation code, hex with 0x; constructor arguments follow it. */
  readonly bytecode: `0x${string}`;
  /** Code of the created account, with immutables set to zero. */
  readonly deployedBytecode: `0x${string}`;
}

export interface Artefacts {
  readonly compiler: string;
  readonly settings: unknown;
  readonly contracts: Readonly<Record<string, Artefact>>;
}
