/** Values of a server's answers, read without trust: text of another form is BAD_ANSWER. */
import {badAnswer} from "../rpc/envelope.ts";
import type {RpcError} from "../rpc/rpcError.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** @throws RpcError BAD_ANSWER, as all of this file */
export function readObject(at: string, value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw unexpected(at, "not an object");
  return value as Fields;
}

/** @param maxLength - most elements */
export function readArray(at: string, value: unknown, maxLength: number): readonly unknown[] {
  if (!Array.isArray(value)) throw unexpected(at, "not an array");
  if (value.length > maxLength) throw unexpected(at, `longer than ${maxLength}`);
  return value;
}

export function readQuantity(at: string, value: unknown): bigint {
  if (typeof value !== "string" || !/^0x(?:0|[1-9a-f][0-9a-f]{0,63})$/.test(value))
    throw unexpected(at, "not a quantity");
  return BigInt(value);
}

/** @returns undefined for null, which a server writes where there is no such number */
export function readOptionalQuantity(at: string, value: unknown): bigint | undefined {
  return (value ?? undefined) === undefined ? undefined : readQuantity(at, value);
}

/** @returns `0x` and 64 digits */
export function readHash(at: string, value: unknown): string {
  if (typeof value !== "string" || !/^0x[0-9a-f]{64}$/.test(value)) throw unexpected(at, "not 32 bytes");
  return value;
}

export function readText(at: string, value: unknown, maxLength: number): string {
  if (typeof value !== "string" || value.length > maxLength) throw unexpected(at, "not a short text");
  return value;
}

export function readBoolean(at: string, value: unknown): boolean {
  if (typeof value !== "boolean") throw unexpected(at, "not true or false");
  return value;
}

function unexpected(at: string, rule: string): RpcError {
  return badAnswer(`${at} of the answer is ${rule}`);
}
