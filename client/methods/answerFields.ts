/** Reads untrusted values of a server's answers. */
import type {Hex} from "../bytes/hex.ts";
import {count, isObject, shown} from "../bytes/values.ts";
import {badAnswer} from "../rpc/envelope.ts";

/** @param at - the place in the answer, for messages. @throws RpcError BAD_ANSWER for an invalid value */
export type Reader<Value> = (at: string, value: unknown) => Value;

function expect(holds: boolean, at: string, what: string, value: unknown): asserts holds {
  if (!holds) throw badAnswer(`${at} of the answer: expected ${what}, got ${shown(value)}`);
}

function readerOf<Text extends string = string>(pattern: RegExp, what: string): Reader<Text> {
  return (at, value) => {
    expect(typeof value === "string" && pattern.test(value), at, what, value);
    return value as Text;
  };
}

export const readBytesText = readerOf<Hex>(/^0x(?:[0-9a-f]{2})*$/, "bytes in lower-case hex");
export const readHash = readerOf<Hex>(/^0x[0-9a-f]{64}$/, "32 bytes in lower-case hex");
export const readName = readerOf(/^.{0,64}$/s, "text of at most 64 characters");
const readDigits = readerOf(/^0x(?:0|[1-9a-f][0-9a-f]{0,63})$/, "a quantity");

export const readQuantity: Reader<bigint> = (at, value) => BigInt(readDigits(at, value));

export const readBoolean: Reader<boolean> = (at, value) => {
  expect(typeof value === "boolean", at, "true or false", value);
  return value;
};

export const readObject: Reader<Readonly<Record<string, unknown>>> = (at, value) => {
  expect(isObject(value), at, "an object", value);
  return value;
};

/** @returns undefined for null or a missing field */
export function optional<Value>(read: Reader<Value>): Reader<Value | undefined> {
  return (at, value) => ((value ?? undefined) === undefined ? undefined : read(at, value));
}

export function listOf<Value>(least: number, most: number, read: Reader<Value>): Reader<readonly Value[]> {
  return (at, value) => {
    expect(Array.isArray(value), at, "an array", value);
    const {length} = value;
    if (length < least || length > most)
      throw badAnswer(`${at} of the answer: expected ${least} to ${count(most, "element")}, got ${length}`);
    return Array.from({length}, (_, i) => read(`${at}[${i}]`, value[i]));
  };
}

export type FieldsOf<Readers> = {
  readonly [Name in keyof Readers]: Readers[Name] extends Reader<infer Value> ? Value : never;
};

/** The named fields of an object. Others are ignored. */
export function fieldsOf<Readers extends object>(readers: Readers): Reader<FieldsOf<Readers>> {
  return (at, value) => {
    const object = readObject(at, value);
    const entries = Object.entries<Reader<unknown>>(readers as Readonly<Record<string, Reader<unknown>>>);
    return Object.fromEntries(
      entries.map(([name, read]) => [name, read(`${at}.${name}`, object[name])]),
    ) as FieldsOf<Readers>;
  };
}
