/** How a run ends, and why the interpreter declines one. The numbers are those of wasm/layout.ts. */

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

/** The run needs more room than the interpreter has. */
export class EvmDeclined extends Error {
  readonly reason: string;

  constructor(reason: number) {
    const name = REASONS[reason] ?? `${reason}`;
    super(`it needs more room for ${name} than the EVM has`);
    this.name = "EvmDeclined";
    this.reason = name;
  }
}
