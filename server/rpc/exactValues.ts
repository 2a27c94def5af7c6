/**
 * Checks that JSON.parse has not changed values, so that they can be sent on. Numbers must be safe integers, because
 * others may have become another number. Text must be well-formed Unicode, because JSON.stringify takes 0.1 us for a
 * lone surrogate, and a body can hold enough of them to take 90 ms.
 */
import {createParamsError} from "./rpcError.ts";

const SHOWN_FIELD = /^[A-Za-z0-9_]{1,64}$/;
export const LONE_SURROGATE = /\p{Surrogate}/u;

interface Finding {
  /** Path below the value that was searched, such as `[0].gas`. */
  readonly path: string;
  readonly reason: string;
}

/** @param name - of `value`. @throws RpcError INVALID_PARAMS for an unsafe number, or text with a lone surrogate */
export function requireExactValues(value: unknown, name: string): void {
  const found = findInexact(value);
  if (found !== undefined) throw createParamsError(`${name}${found.path}: ${found.reason}`);
}

/** @param value - parsed JSON, limited in depth and members, or in bytes */
export function findInexact(value: unknown): Finding | undefined {
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return undefined;
    return {path: "", reason: `expected a string, or a whole JSON number up to 2^53 - 1, got ${value}`};
  }
  if (typeof value === "string") return findLoneSurrogate(value);
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
    const found = findLoneSurrogate(field) ?? findInexact(fields[field]);
    if (found !== undefined)
      return {...found, path: `.${SHOWN_FIELD.test(field) ? field : "?"}${found.path}`};
  }
  return undefined;
}

function findLoneSurrogate(text: string): Finding | undefined {
  if (!LONE_SURROGATE.test(text)) return undefined;
  return {path: "", reason: "expected well-formed Unicode, got a lone surrogate"};
}
