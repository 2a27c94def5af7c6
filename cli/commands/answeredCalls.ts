/** The results of the calls that `proofd verify` is asked about, as the answer has them. Nothing is verified here. */
import {isObject, oneLine} from "../../client/bytes/values.ts";
import {ProofError} from "../../client/proof/proofError.ts";
import {check} from "../../client/proof/strictJson.ts";
import type {AskedCalls} from "./askedCalls.ts";

const FORMS = "expected a JSON-RPC response or proof bytes";
const MAX_TEXT = 300;
/** Proof bytes begin with a small number, and JSON with a character. */
const FIRST_CHARACTER = 0x09;

/**
 * @param answer - a JSON-RPC response, a batch of them, or proof bytes
 * @returns a result for each call: parsed JSON, or the proof bytes
 * @throws ProofError if it is not an answer to these calls
 */
export function readResults(answer: Buffer, {isBatch, calls}: AskedCalls): readonly unknown[] {
  const [first] = answer;
  check(first !== undefined, "answer", `${FORMS}, got nothing`);
  if (first < FIRST_CHARACTER) {
    check(!isBatch, "answer", `expected ${calls.length} responses, got proof bytes`);
    return [answer];
  }
  const json = parseJson(answer.toString());
  if (!isBatch) return [readResult("answer", json)];
  check(Array.isArray(json), "answer", `expected an array of ${calls.length} responses, got no array`);
  return calls.map(({id}) => {
    const response: unknown = json.find(one => isObject(one) && one.id === id);
    return readResult(`answer to the call ${JSON.stringify(id)}`, response);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProofError("answer", `${FORMS}, got text that is not JSON`);
  }
}

function readResult(at: string, response: unknown): unknown {
  check(!Array.isArray(response), at, "expected one response, got a batch");
  check(isObject(response), at, "expected a JSON-RPC response, got none");
  if ("error" in response) throw new ProofError(at, describeError(response.error));
  check("result" in response, at, "expected a JSON-RPC response, got an object without result");
  return response.result;
}

function describeError(error: unknown): string {
  const [code, message] = isObject(error) ? [error.code, error.message] : [];
  const said = typeof message === "string" ? oneLine(message, MAX_TEXT) : "without a message";
  return `is an error of the server: ${typeof code === "number" ? code : "without a code"}, ${said}`;
}
