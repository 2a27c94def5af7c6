/**
 * The commands that `proofd finalize` and `proofd rollback` send to the process that has the store open, as POST
 * /finalize and POST /rollback.
 */
import {StoreError} from "../../../storage/errors.ts";
import type {Engine} from "../../../workers/engine.ts";
import type {Head} from "../../../workers/messages/head.ts";

export const COMMAND_KINDS = ["finalize", "rollback"] as const;
export type CommandKind = (typeof COMMAND_KINDS)[number];

/** Largest body of a command, which is only a block number. */
export const MAX_COMMAND_BYTES = 1024;
export const MAX_BLOCK = 2 ** 48 - 1;

/** `kind` is in the path of the HTTP request, the rest in its body. */
export interface BlockCommand {
  readonly kind: CommandKind;
  readonly to: number;
}

export type ControlAnswer =
  | {readonly ok: true; readonly before: Head; readonly after: Head}
  | {readonly ok: false; readonly message: string};

export interface CommandedEngine {
  readonly chain: Pick<Engine["chain"], "head">;
  readonly writes: Pick<Engine["writes"], CommandKind>;
}

export async function executeCommand(
  engine: CommandedEngine,
  {kind, to}: BlockCommand,
): Promise<ControlAnswer> {
  const before = engine.chain.head();
  try {
    return {ok: true, before, after: await engine.writes[kind](to)};
  } catch (error) {
    return {ok: false, message: error instanceof StoreError ? error.message : String(error)};
  }
}

/** A head as JSON, for logs and answers to commands: null instead of undefined. */
export function headFields({earliest, finalized, latest}: Head) {
  return {earliest: earliest ?? null, finalized: finalized ?? null, latest: latest ?? null};
}

export function answerFields(answer: ControlAnswer): object {
  if (!answer.ok) return answer;
  return {ok: true, before: headFields(answer.before), after: headFields(answer.after)};
}

export function decodeAnswer(text: string): ControlAnswer {
  return JSON.parse(text, (_name, value: unknown) => value ?? undefined) as ControlAnswer;
}

export function parseBlock(text: string): number | undefined {
  const {to} = parseFields(text);
  return typeof to === "number" && Number.isInteger(to) && to >= 0 && to <= MAX_BLOCK ? to : undefined;
}

/** @returns the fields of a JSON object; none for anything else */
export function parseFields(text: string): Readonly<Record<string, unknown>> {
  try {
    return {...JSON.parse(text)};
  } catch {
    return {};
  }
}
