/** The compiled contracts, which are checked in: artefacts.json. */
import {readFileSync} from "node:fs";

const FOLDER = new URL("contracts/", import.meta.resolve("#package/package.json"));
export const ARTEFACTS = new URL("artefacts.json", FOLDER);
export const SOURCES = new URL("src/", FOLDER);

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
  /** By name of the contract; those that can be created. */
  readonly contracts: Readonly<Record<string, Artefact>>;
}

/** @param name - of a contract in src/ @throws Error if artefacts.json has none */
export function readArtefact(name: string): Artefact {
  const {contracts} = JSON.parse(readFileSync(ARTEFACTS, "utf8")) as Artefacts;
  const artefact = contracts[name];
  if (artefact === undefined) throw new Error(`contracts/artefacts.json has no contract ${name}`);
  return artefact;
}
