import {readFileSync} from "node:fs";
import {ARTEFACTS, type Artefact, type Artefacts} from "../../../contracts/artefacts.ts";

/** @param name - of a contract in src/ @throws Error if artefacts.json has none */
export function readArtefact(name: string): Artefact {
  const {contracts} = JSON.parse(readFileSync(ARTEFACTS, "utf8")) as Artefacts;
  const artefact = contracts[name];
  if (artefact === undefined) throw new Error(`contracts/artefacts.json has no contract ${name}`);
  return artefact;
}
