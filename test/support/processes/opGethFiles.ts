/** Where test/nodes/install.ts puts op-geth, and the genesis file that the registry of the OP stack has of Unichain. */
import {existsSync} from "node:fs";
import {join} from "node:path";
import {PROGRAMS_FOLDER} from "./foundProgram.ts";

/** As in test/nodes/opGeth/go.mod. It is geth 1.17.2, and has the forks up to jovian. */
export const OP_GETH_VERSION = "v1.101702.3";

const FOLDER = join(PROGRAMS_FOLDER, `op-geth-${OP_GETH_VERSION}`);
export const OP_GETH: string = join(FOLDER, "op-geth");
export const OP_GENESIS: string = join(FOLDER, "unichain.json");

/** @returns what is missing; undefined: nothing */
export function describeMissingOpGeth(): string | undefined {
  if (existsSync(OP_GETH) && existsSync(OP_GENESIS)) return undefined;
  return "op-geth is not installed. With Go: node dist/test/nodes/install.js";
}
