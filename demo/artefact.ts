/** The compiled demo contracts, which are committed next to their sources: contracts/<source>.json. */
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {fileURLToPath} from "node:url";

export const DEMO_FOLDER = fileURLToPath(import.meta.resolve("#package/demo"));
export const CONTRACTS_FOLDER = join(DEMO_FOLDER, "contracts");

export interface ContractArtefact {
  /** Creation code, hex without 0x; constructor arguments follow it. */
  readonly bytecode: string;
  /** Code of the created account, with immutables set to zero. */
  readonly deployedBytecode: string;
  /** Selectors (8 hex digits) by signature. */
  readonly methods: Readonly<Record<string, string>>;
}

export interface SourceArtefact {
  readonly source: string;
  readonly compiler: string;
  readonly settings: unknown;
  readonly contracts: Readonly<Record<string, ContractArtefact>>;
}

export function readContract(sourceName: string, contractName: string = sourceName): ContractArtefact {
  const artefact = JSON.parse(
    readFileSync(join(CONTRACTS_FOLDER, `${sourceName}.json`), "utf8"),
  ) as SourceArtefact;
  const contract = artefact.contracts[contractName];
  if (contract === undefined) throw new Error(`no contract ${contractName} in ${sourceName}.json`);
  return contract;
}
