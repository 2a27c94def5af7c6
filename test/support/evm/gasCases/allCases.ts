import type {GasCase} from "../evmKit.ts";
import {CALL_CASES} from "./callCases.ts";
import {CREATION_CASES} from "./creationCases.ts";
import {MEMORY_CASES} from "./memoryCases.ts";
import {OPCODE_CASES} from "./opcodeCases.ts";
import {STORAGE_CASES} from "./storageCases.ts";

/** What tells a wrong gas table: cases that hold under each fork from their first on. */
export const GAS_CASES: readonly GasCase[] = [
  ...OPCODE_CASES,
  ...MEMORY_CASES,
  ...STORAGE_CASES,
  ...CALL_CASES,
  ...CREATION_CASES,
];
