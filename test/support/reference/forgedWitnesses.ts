/** Forged answers to proof_call: parts of the witness and of the outcome changed, removed, repeated, exchanged or taken from other answers. */
import fc from "fast-check";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";

export interface CallAnswer {
  readonly result?: unknown;
  readonly error?: unknown;
  readonly witness: Readonly<Record<ListName, readonly string[]>>;
}

type ListName = (typeof LISTS)[number];
type Lists = Record<ListName, string[]>;

const LISTS = ["state", "codes", "headers"] as const;

/** Where in a list, and in the bytes of its element, as parts of the whole. */
const place = fc.record({
  list: fc.constantFrom(...LISTS, "state" as const, "state" as const),
  at: fc.double({min: 0, max: 1, maxExcluded: true, noNaN: true}),
  byte: fc.double({min: 0, max: 1, maxExcluded: true, noNaN: true}),
  bit: fc.nat(7),
});
type Place = typeof place extends fc.Arbitrary<infer Value> ? Value : never;

const WAYS = {
  flip(lists: Lists, {list, at, byte, bit}: Place) {
    change(lists[list], at, text => {
      const bytes = decodeHex(text);
      if (bytes.length > 0) (bytes[Math.floor(byte * bytes.length)] as number) ^= 1 << bit;
      return encodeHex(bytes);
    });
  },
  cut(lists: Lists, {list, at, byte}: Place) {
    change(lists[list], at, text => text.slice(0, 2 + 2 * Math.floor((byte * text.length) / 2)));
  },
  remove(lists: Lists, {list, at}: Place) {
    lists[list].splice(Math.floor(at * lists[list].length), 1);
  },
  repeat(lists: Lists, {list, at, byte}: Place) {
    const from = lists[list][Math.floor(at * lists[list].length)];
    if (from !== undefined) lists[list].splice(Math.floor(byte * lists[list].length), 0, from);
  },
  swap(lists: Lists, {list, at, byte}: Place) {
    const [a, b] = [at, byte].map(part => Math.floor(part * lists[list].length)) as [number, number];
    [lists[list][a], lists[list][b]] = [lists[list][b] as string, lists[list][a] as string];
  },
  /** An element of another answer takes the place of one, or comes beside it. */
  replace(lists: Lists, {list, at, byte, bit}: Place, other: CallAnswer) {
    const taken = other.witness[list][Math.floor(byte * other.witness[list].length)];
    if (taken !== undefined) lists[list].splice(Math.floor(at * lists[list].length), bit & 1, taken);
  },
  move(lists: Lists, {list, at, byte}: Place) {
    const [taken] = lists[list].splice(Math.floor(at * lists[list].length), 1);
    const to = lists[LISTS[Math.floor(byte * LISTS.length)] as ListName];
    if (taken !== undefined) to.push(taken);
  },
};

const step = fc.record({way: fc.constantFrom(...Object.values(WAYS)), place, other: fc.nat()});
const outcome = fc.constantFrom<(own: CallAnswer, other: CallAnswer) => object>(
  ({result, error}) => ({result, error}),
  ({result, error}) => ({result, error}),
  (_, {result, error}) => ({result, error}),
  ({result}) => ({result: `${result ?? "0x"}00`}),
  ({result}) => ({result: String(result ?? "0x00").replace(/.$/, last => (last === "0" ? "1" : "0"))}),
  () => ({result: "0x"}),
  () => ({error: {code: 3, message: "execution reverted", data: "0x"}}),
  () => ({error: {code: -32000, message: "out of gas"}}),
);

/** @returns how to forge an answer, with parts of others. Some change nothing */
export const forging = fc
  .record({steps: fc.array(step, {minLength: 0, maxLength: 3}), outcome, other: fc.nat()})
  .map(({steps, outcome, other}) => (answer: CallAnswer, others: readonly CallAnswer[]): CallAnswer => {
    const of = (position: number) => others[position % others.length] as CallAnswer;
    const lists = structuredClone(answer.witness) as Lists;
    for (const one of steps) one.way(lists, one.place, of(one.other));
    return JSON.parse(JSON.stringify({...outcome(answer, of(other)), witness: lists}));
  });

function change(list: string[], at: number, make: (text: string) => string): void {
  const position = Math.floor(at * list.length);
  const text = list[position];
  if (text !== undefined) list[position] = make(text);
}
