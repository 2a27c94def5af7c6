/**
 * Values that came through JSON.parse unharmed and can be written again: numbers that are safe integers, text of whole
 * characters. Others are not sent on: a number has become another one, and half a character (a lone surrogate) takes
 * JSON.stringify 0.1 us, of which a body has room for 90 ms.
 */
import {RpcCode, RpcError} from "./rpcError.ts";

const SHOWN_FIELD = /^[A-Za-z0-9_]{1,64}$/;
const HALF_CHARACTER = /\p{Surrogate}/u;

interface Finding {
  /** As in `params[0].gas`, from below the value that was searched. */
  readonly path: string;
  /** What is wrong with it. */
  readonly reason: string;
}

/**
 * @param name - of `value`, as messages call it
 * @throws RpcError INVALID_PARAMS naming a number that is no safe integer, or a text that is none
 */
export function requireExactValues(value: unknown, name: string): void {
  const found = findInexact(value);
  if (found !== undefined) throw new RpcError(RpcCode.INVALID_PARAMS, `${name}${found.path} ${found.reason}`);
}

/** @param value - parsed JSON; the envelope bounds its depth and members */
function findInexact(value: unknown): Finding | undefined {
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return undefined;
    const reason = "a JSON number that is no safe integer may have lost digits: send it as a string";
    return {path: "", reason: `is ${value}: ${reason}`};
  }
  if (typeof value === "string") return findHalfCharacter(value);
  if (typeof value !== "object" || value === null) return undefined;
  return Array.isArray(value) ? findInElements(value) : findInFields(value as Record<string, unknown>);
}

function findInElements(elements: readonly unknown[]): Finding | undefined {
  for (let index = 0; index < elements.length; index++) {
    const found = findInexact(elements[index]);
    if (found !== undefined) return {...found, path: `[${index}]${found.path}`};
  }
  return undefined;
}

function findInFields(fields: Readonly<Record<string, unknown>>): Finding | undefined {
  for (const field of Object.keys(fields)) {
    const found = findHalfCharacter(field) ?? findInexact(fields[field]);
    if (found !== undefined)
      return {...found, path: `.${SHOWN_FIELD.test(field) ? field : "?"}${found.path}`};
  }
  return undefined;
}

function findHalfCharacter(text: string): Finding | undefined {
  if (!HALF_CHARACTER.test(text)) return undefined;
  return {path: "", reason: "has half of a surrogate pair: expected whole characters"};
}
