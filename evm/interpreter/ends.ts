/** Outcomes of a run, and why the interpreter refuses one. The numbers are those of wasm/layout.ts. */

const ENDS = [
  "running",
  "success",
  "revert",
  "outOfGas",
  "invalidOpcode",
  "stackUnderflow",
  "stackOverflow",
  "invalidJump",
  "outOfRange",
  "writeProtection",
  "codeStoreOutOfGas",
  "codeTooLong",
  "codeStartsEf",
  "initcodeTooLong",
  "collision",
  "insufficientBalance",
  "valueOverflow",
  "precompileFailed",
] as const;

export type EvmEnd = (typeof ENDS)[number];

export function endOf(kind: number): EvmEnd {
  const end = ENDS[kind];
  if (end === undefined) throw new Error(`the interpreter ended a run with ${kind}`);
  return end;
}

const REASONS = ["", "memory", "its undo log", "logs", "code", "state", "returned data"] as const;

/** The run exceeds the memory that the interpreter reserves for one of its regions. */
export class EvmDeclined extends Error {
  readonly reason: string;

  constructor(reason: number) {
    const name = REASONS[reason] ?? `${reason}`;
    super(`it needs more room for ${name} than the EVM has`);
    this.name = "EvmDeclined";
    this.reason = name;
  }
}
