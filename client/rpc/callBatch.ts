/** Calls that go out as one HTTP request. */
import {type CallAnswer, readAnswers} from "./envelope.ts";
import type {Exchange} from "./exchange.ts";
import type {PendingCall} from "./pendingCall.ts";
import {RpcError} from "./rpcError.ts";

/** Room for what JSON-RPC puts around a result, and for an error. */
const ENVELOPE_BYTES = 4096;
/** Room for the page that a proxy sends instead of an answer: its status must be seen. */
const PAGE_BYTES = 65_536;
const JSON_TYPE = "application/json";
const BYTES_TYPE = "application/octet-stream";

/**
 * Sends calls and settles each of them. If the server refuses a batch as a whole, because of a limit or of one of its calls, its
 * halves are sent: a call suffers from no other. So n calls take fewer than 2n requests.
 *
 * @param calls - at least one. One that takes bytes or waits comes alone
 * @returns when all are settled; never rejects
 */
export async function sendCalls(
  exchange: Exchange,
  calls: readonly PendingCall[],
  timeoutMs: number,
): Promise<void> {
  const open = calls.filter(({isOpen}) => isOpen);
  if (open.length === 0) return;
  try {
    const answers = await ask(exchange, open, timeoutMs);
    answers.forEach((answer, at) => {
      const call = open[at] as PendingCall;
      if ("error" in answer) call.reject(answer.error);
      else call.resolve(answer.result);
    });
  } catch (error) {
    if (open.length > 1 && isRefusedAsWhole(error)) {
      const half = Math.ceil(open.length / 2);
      await Promise.all(
        [open.slice(0, half), open.slice(half)].map(part => sendCalls(exchange, part, timeoutMs)),
      );
    } else for (const call of open) call.reject(error);
  }
}

async function ask(
  exchange: Exchange,
  calls: readonly PendingCall[],
  timeoutMs: number,
): Promise<readonly CallAnswer[]> {
  const [first] = calls as [PendingCall];
  const {takesBytes = false} = first.request;
  const isBatch = calls.length > 1;
  const texts = calls.map(({text}) => text);
  const maxAnswerBytes = PAGE_BYTES + calls.reduce((sum, call) => sum + answerBytes(call), 0);
  const answer = await exchange.send(
    {
      body: isBatch ? `[${texts.join()}]` : first.text,
      accept: takesBytes ? `${BYTES_TYPE}, ${JSON_TYPE}` : JSON_TYPE,
      timeoutMs,
      maxAnswerBytes,
    },
    stopSignal(calls),
  );
  if (takesBytes && answer.contentType === BYTES_TYPE) return [{result: answer.bytes}];
  const ids = calls.map(({id}) => id);
  return readAnswers(answer.bytes, ids, isBatch, answer.status, maxAnswerBytes);
}

/** How long the answer to a call may be. */
export function answerBytes({request}: PendingCall): number {
  return request.maxAnswerBytes + ENVELOPE_BYTES;
}

/** Aborted when the signals of all calls have ended them. */
function stopSignal(calls: readonly PendingCall[]): AbortSignal {
  const stop = new AbortController();
  for (const call of calls)
    call.onGivenUp = () => {
      if (calls.every(({isOpen}) => !isOpen)) stop.abort(new Error("all calls of the request are aborted"));
    };
  return stop.signal;
}

/** By an error of the server for the request, or by its length in one direction. */
function isRefusedAsWhole(error: unknown): boolean {
  if (!(error instanceof RpcError)) return false;
  const isRefusal = typeof error.code === "number" && error.status === 200;
  return isRefusal || error.status === 413 || error.code === "ANSWER_TOO_LONG";
}
