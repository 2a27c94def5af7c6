/** What a faulty proxy does to a node's answers. */

export const FAULTS = [
  "delay",
  "cut",
  "garbage",
  "truncated",
  "tooMany",
  "unavailable",
  "internalError",
  "otherHash",
  "otherChain",
  "missingBlock",
] as const;
/** faultyProxy.ts says what each is. */
export type Fault = (typeof FAULTS)[number];

export interface SentCall {
  readonly id?: unknown;
  readonly method?: string;
}

interface ReceivedAnswer {
  readonly id?: unknown;
  result?: unknown;
}

/** The methods whose answers can have a fault. The others can be at any answer. */
const METHODS: Readonly<Partial<Record<Fault, RegExp>>> = {
  otherHash: /^eth_getBlockBy/,
  otherChain: /^eth_chainId$/,
  missingBlock: /^(eth_getBlock(By|Receipts)|debug_(getRawBlock|traceBlock)|trace_replayBlock)/,
};
const OTHER_CHAIN = "0xdead";

export function isPossible(fault: Fault, calls: readonly SentCall[]): boolean {
  const methods = METHODS[fault];
  return methods === undefined || calls.some(({method}) => methods.test(method ?? ""));
}

/**
 * Changes the answers to the calls that can have the fault.
 *
 * @param text - of the node's answer, to one call or a batch
 */
export function spoil(text: string, calls: readonly SentCall[], fault: Fault): string {
  if (fault === "internalError") return failAll(text);
  const methods = METHODS[fault];
  if (methods === undefined) return text;
  return alterResults(text, calls, (method, result) =>
    methods.test(method) ? spoilResult(result, fault) : result,
  );
}

function failAll(text: string): string {
  const answers = JSON.parse(text) as ReceivedAnswer | ReceivedAnswer[];
  const fail = ({id}: ReceivedAnswer) => ({
    jsonrpc: "2.0",
    id,
    error: {code: -32603, message: "Internal error"},
  });
  return JSON.stringify(Array.isArray(answers) ? answers.map(fail) : fail(answers));
}

/** @param alter - gets the results only, not the errors */
export function alterResults(
  text: string,
  calls: readonly SentCall[],
  alter: (method: string, result: unknown) => unknown,
): string {
  const answers = JSON.parse(text) as ReceivedAnswer | ReceivedAnswer[];
  for (const answer of [answers].flat()) {
    const method = calls.find(({id}) => id === answer.id)?.method;
    if (method !== undefined && "result" in answer) answer.result = alter(method, answer.result);
  }
  return JSON.stringify(answers);
}

function spoilResult(result: unknown, fault: Fault): unknown {
  if (fault === "missingBlock") return null;
  if (fault === "otherChain") return OTHER_CHAIN;
  // A block that the node does not have stays null.
  return typeof result === "object" && result !== null ? {...result, hash: changeHash(result)} : result;
}

function changeHash({hash}: {hash?: unknown}): string {
  const text = String(hash);
  return text.slice(0, -1) + (text.endsWith("0") ? "1" : "0");
}
