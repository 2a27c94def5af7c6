/** Forgeries of answers: a layout names the kind of each field, and each is changed in all ways that fit its kind. */
import {isDeepStrictEqual} from "node:util";
import {concatBytes} from "../../../client/bytes/byteString.ts";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {isObject} from "../../../client/bytes/values.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import {ProofError} from "../../../client/proof/proofError.ts";
import {applyEdits, type JsonEdit, listPlaces, readAt} from "./jsonPath.ts";

/** The kind of each field, by its name. Elements of the list `nodes` are `nodes[]`. What has none is not changed by itself. */
type Layout = Readonly<Record<string, Kind>>;
type Kind = keyof typeof CHANGES;

interface Forgery {
  /** The name of the field and what is done to it. */
  readonly name: string;
  readonly path: readonly string[];
  value(): unknown;
}

/** What is done, and the value that comes of it. */
type Change = readonly [way: string, value: () => unknown];
/** @param others - the values of the fields of the same kind */
type List = (value: never, others: readonly unknown[]) => Iterable<Change>;

const LAST_POSITION = 2 ** 40 - 1;

/** An answer of chain_getProof. */
const JSON_PROOF: Layout = {
  ...{answer: "entry", accountProof: "entry", storageProofs: "jsonList", "storageProofs[]": "entry"},
  ...{key: "hex", value: "hex", leafIndex: "jsonNumber", leftLeafIndex: "jsonNumber"},
  ...{rightLeafIndex: "jsonNumber", proof: "entry", leftProof: "entry", rightProof: "entry"},
  ...{proofRelatedNodes: "jsonList", "proofRelatedNodes[]": "hex"},
};

export const ETH_PROOF: Layout = {
  ...{answer: "entry", storageProof: "jsonList", "storageProof[]": "entry", key: "slot", value: "hex"},
  ...{address: "hex", nonce: "hex", balance: "hex", storageHash: "hex", codeHash: "hex"},
  ...{accountProof: "jsonList", "accountProof[]": "node", proof: "jsonList", "proof[]": "node"},
};

/** The nodes of a multiproof of Ethereum's trie, in hex. */
export const TRIE_NODES: Layout = {nodes: "list", "nodes[]": "node"};

/** A part of a tree, of a compact proof or a multiproof. */
export const TREE_PART: Layout = {
  ...{nextFreeNode: "position", leafIndex: "position", prev: "position", next: "position"},
  ...{bitmap: "position", leaf: "number", left: "number", right: "number", keys: "list", leaves: "list"},
  ...{siblings: "list", "siblings[]": "digest", hKey: "digest", hVal: "digest", value: "words"},
};

/** The parts of an answer of chain_getLeaves. */
export const RANGE: Layout = {
  ...{nextFreeNode: "position", from: "position", records: "list", "records[]": "bytes"},
  ...{nodes: "list", "nodes[]": "digest"},
};

/** The parts of an answer of chain_getChanges. */
export const CHANGED_LEAVES: Layout = {
  ...{from: "cursor", end: "cursor", items: "list", bit: "bit", node: "digest"},
  ...{positions: "bytes", leaf: "bytes", value: "bytes", links: "bytes"},
};

const CHANGES = {
  position: function* (n: number, others) {
    const near = [n - 1, n + 1, n - 2, n - 5, Math.abs(n - (n % 2) * 2 + 1)];
    const values = [0, 1, 2, 5, ...near, 2 * n, LAST_POSITION, LAST_POSITION - n];
    const far = [8, 16, 24, 31, 32, 39].flatMap(power => [n + 2 ** power, 2 ** power]);
    for (const value of values) if (isPosition(value)) yield ["another number", () => value];
    for (const value of far) if (isPosition(value)) yield ["a bit more", () => value];
    for (const value of others) yield ["another of its kind", () => value];
  },
  cursor: function* (n: bigint) {
    const account = n >> 40n;
    for (const value of [n - 1n, n + 1n, n + 3n, 0n, account << 40n, (account + 1n) << 40n])
      if (value >= 0n && value < 2n ** 80n) yield ["another number", () => value];
  },
  number: function* (n: number, others) {
    for (const value of [0, n - 1, n + 1, 300, 0x7fff])
      if (value >= 0 && value <= 0x7fff) yield ["another number", () => value];
    for (const value of others) yield ["another of its kind", () => value];
  },
  digest: function* (digest: Uint8Array, others) {
    yield* flips(digest, [0, 13, 31]);
    // Under poseidon2, no limb is as large as these.
    for (let at = 0; at < digest.length; at += 4)
      yield ["no digest", () => digest.with(at, digest[at] === 0xff ? 0xfe : 0xff)];
    yield ["zero", () => new Uint8Array(32)];
    for (const value of others) yield ["another of its kind", () => value];
  },
  bit: function* (bit: boolean) {
    yield ["another bit", () => !bit];
  },
  bytes: function* (bytes: Uint8Array) {
    yield* flips(bytes, bytes.keys());
    yield ["a byte less", () => bytes.subarray(1)];
    yield ["a byte more", () => concatBytes(bytes, new Uint8Array(1))];
    if (bytes.length === 10)
      for (const at of [0, 5])
        for (const count of [0, 1, 2, 300, LAST_POSITION])
          yield ["another number", () => withNumber(bytes, at, count)];
  },
  /** 32 bytes each. */
  words: function* (value: Uint8Array) {
    for (let at = 0; at < value.length; at += 32) {
      yield* flips(value, [at, at + 31]);
      yield ["zero", () => value.slice().fill(0, at, at + 32)];
    }
  },
  list: function* (list: readonly unknown[]) {
    for (const [i, one] of list.entries()) {
      yield ["one dropped", () => list.toSpliced(i, 1)];
      yield ["one doubled", () => list.toSpliced(i, 0, one)];
      const next = list.findIndex((other, at) => at > i && isAlike(one, other));
      if (next > 0) yield ["two swapped", () => list.with(i, list[next]).with(next, one)];
      yield ["turned", () => [...list.slice(i), ...list.slice(0, i)]];
      yield ["the rest dropped", () => list.slice(0, i)];
      yield ["one moved", () => list.toSpliced(i, 1).toSpliced((7 * i + 3) % list.length, 0, one)];
    }
    yield ["turned", () => list.toReversed()];
  },
  hex: function* (text: string) {
    for (const value of [null, 1, ...respell(text.slice(2))]) yield ["another text", () => value];
  },
  /** Of a key, any spelling will do. */
  slot: function* (text: string) {
    for (const value of respell(text.slice(2)))
      if (!/^0x[0-9a-fA-F]{1,64}$/.test(value) || BigInt(value) !== BigInt(text))
        yield ["another text", () => value];
  },
  node: function* (text: string, others) {
    const bytes = decodeHex(text);
    const places = [...bytes.keys()].filter(at => at % 7 === 0 || at === bytes.length - 1);
    for (const [way, make] of flips(bytes, places)) yield [way, () => encodeHex(make() as Uint8Array)];
    for (const value of [null, 1, "0x80", ...respell(text.slice(2))]) yield ["another text", () => value];
    for (const value of others) yield ["another of its kind", () => value];
  },
  jsonNumber: function* (n: number) {
    for (const value of [`${n}`, n + 0.5, -3, -0, n + 2 ** 32, 2 ** 40, n + 2 ** 40])
      yield ["another number", () => value];
  },
  jsonList: function* (list: readonly unknown[]) {
    for (const i of [0, list.length - 1]) {
      yield ["one dropped", () => list.toSpliced(i, 1)];
      yield ["one doubled", () => [...list.slice(0, i + 1), ...list.slice(i)]];
    }
    yield ["one more", () => [...list, 1]];
    for (let i = 1; i < list.length; i++)
      yield ["two swapped", () => list.with(i - 1, list[i]).with(i, list[i - 1])];
    yield ["no list", () => ({...list, length: list.length})];
  },
  entry: function* (fields: Readonly<Record<string, unknown>>, others) {
    for (const value of [null, []]) yield ["no object", () => value];
    for (const name of Object.keys(fields))
      yield [
        "a field dropped",
        () => Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name)),
      ];
    const {key, leftLeafIndex, leftProof, rightLeafIndex, rightProof} = fields;
    if (key !== undefined)
      for (const other of others.filter(entry => isObject(entry) && "key" in entry))
        yield ["another of its kind", () => ({...(other as object), key})];
    if (leftProof !== undefined) {
      const turned = {leftLeafIndex: rightLeafIndex, leftProof: rightProof};
      yield [
        "the sides swapped",
        () => ({...fields, ...turned, rightLeafIndex: leftLeafIndex, rightProof: leftProof}),
      ];
    }
  },
} satisfies Record<string, List>;

/** @param isFew - of the nodes of a path only its ends, and one between, to which all others are alike */
export function* forge(answer: unknown, layout: Layout, isFew = false): Generator<Forgery> {
  const alike = new Map<Kind, Map<unknown, unknown>>();
  const places = listPlaces(answer).flatMap(path => {
    const parent = readAt(answer, path.slice(0, -1));
    const field = isObject(parent) && typeof parent.what === "string" ? parent.what : nameOf(path);
    const kind = layout[field];
    if (kind === undefined || path.at(-1) === "what") return [];
    const value = readAt(answer, path);
    const others = alike.get(kind) ?? new Map<unknown, unknown>();
    alike.set(kind, others.set(value instanceof Uint8Array ? encodeHex(value) : value, value));
    return [{field, kind, path, value, others}];
  });
  for (const {field, kind, path, value, others} of places) {
    if (isFew && /Nodes\[\]$/.test(field) && ![0, 20, 39, 40, 41].includes(Number(path.at(-1)))) continue;
    for (const [way, make] of (CHANGES[kind] as List)(value as never, [...others.values()]))
      yield {name: `${field}: ${way}`, path, value: make};
  }
}

/** Forgeries of an answer with a proof, parsed. None of them may be accepted. @param isFew - as of `forge` */
export function* forgeAnswers(
  answer: unknown,
  isFew = false,
  layout = JSON_PROOF,
): Generator<{edit: JsonEdit; answer: unknown}> {
  for (const {path, value} of forge(answer, layout, isFew)) {
    const edit = {path, value: value()};
    if (!isDeepStrictEqual(edit.value, readAt(answer, path)))
      yield {edit, answer: applyEdits(answer, [edit])};
  }
}

/** A number from 0 to below `n`, which is above 0: another one at each call. */
export type Pick = (n: number) => number;

/** @returns undefined: there is no forgery of this class */
export function forgeField<Parts>(parts: Parts, layout: Layout, name: string, pick: Pick): Parts | undefined {
  const found = [...forge(parts, layout)].filter(forgery => forgery.name === name);
  const one = found[found.length === 0 ? 0 : pick(found.length)];
  return one && (applyEdits(parts, [{path: one.path, value: one.value()}]) as Parts);
}

export function namesOf(layout: Layout, answers: Iterable<unknown>): string[] {
  return [...new Set([...answers].flatMap(answer => [...forge(answer, layout)].map(({name}) => name)))];
}

/** Forgeries of an answer's bytes. @param unproven - places of bytes that a verifier does not compare */
export const BYTE_FORGERIES = {
  "a bit": (bytes: Uint8Array, pick: Pick, unproven: (at: number) => boolean): Uint8Array => {
    const at = pick(bytes.length);
    return unproven(at) ? bytes : flip(bytes, 8 * at + pick(8));
  },
  "another first byte": (bytes: Uint8Array, pick: Pick) => bytes.with(0, pick(256)),
  "a byte more or less": (bytes: Uint8Array, pick: Pick) =>
    pick(2) === 0 ? bytes.subarray(0, pick(bytes.length)) : concatBytes(bytes, new Uint8Array(1 + pick(64))),
} as const;

export function isIn<Names extends object>(table: Names, name: string): name is keyof Names & string {
  return Object.hasOwn(table, name);
}

/** @param bit - counted from the first byte's highest */
export function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const at = Math.max(0, bit >> 3);
  return bytes.with(at, (bytes[at] as number) ^ (0x80 >> (bit & 7)));
}

export function pickFrom(seed: number): Pick {
  let state = seed;
  return n => {
    state = (state * 48_271 + 11) % 0x7fffffff;
    return state % n;
  };
}

/** The first of each class and the first of each rule. @param make - undefined: there is no such forgery */
export function firstOfEach<Vector>(
  names: readonly string[],
  tries: number,
  make: (name: string) => (Vector & {readonly rule: string}) | undefined,
): Vector[] {
  const shown = new Set<string>();
  const vectors: Vector[] = [];
  for (const name of names)
    for (let i = 0; i < tries; i++) {
      const made = make(name);
      if (made === undefined || (shown.has(name) && shown.has(made.rule))) continue;
      const {rule, ...vector} = made;
      shown.add(name).add(rule);
      vectors.push(vector as Vector);
    }
  return vectors;
}

/** The message with which client/ refuses. @throws Error if it accepts */
export function complaintOf(verify: () => unknown): string {
  try {
    verify();
  } catch (error) {
    if (error instanceof ProofError) return error.message;
    throw error;
  }
  throw new Error("the client accepts the proof");
}

function nameOf(path: readonly string[]): string {
  const name = path.at(-1) ?? "answer";
  return /^\d+$/.test(name) ? `${path.at(-2)}[]` : name;
}

function isPosition(n: number): boolean {
  return n >= 0 && n <= LAST_POSITION;
}

/** With a number of five bytes at this place. */
function withNumber(bytes: Uint8Array, at: number, n: number): Uint8Array {
  return concatBytes(bytes.subarray(0, at), word(n).subarray(27), bytes.subarray(at + 5));
}

/** @returns whether two elements are of one kind, where they say of which they are */
function isAlike(one: unknown, other: unknown): boolean {
  return !isObject(one) || !isObject(other) || one.what === other.what;
}

/** A bit of each of these bytes. */
function* flips(bytes: Uint8Array, places: Iterable<number>): Generator<Change> {
  for (const at of places)
    for (const bit of [0x01, 0x80]) yield ["a bit", () => bytes.with(at, (bytes[at] as number) ^ bit)];
}

/** @returns texts that are no canonical hex of the same bytes, of more, of fewer or of others, and of empty leaves */
function respell(digits: string): readonly string[] {
  const middle = Math.floor(digits.length / 2);
  const flipped = [0, middle, digits.length - 1].map(at => {
    const digit = Number.parseInt(digits.charAt(at), 16) ^ 1;
    return `0x${digits.slice(0, at)}${digit.toString(16)}${digits.slice(at + 1)}`;
  });
  return [
    ...["", "0x", digits, ` 0x${digits}`, `0X${digits}`, `0x${digits}\n`],
    ...[`0${digits}`, `00${digits}`, `${digits}0`, `${digits}00`, digits.slice(1), digits.slice(0, -1)].map(
      text => `0x${text}`,
    ),
    ...[digits.toUpperCase(), digits.replace(/[a-f]/, a => a.toUpperCase()), digits.replace(/^0+/, "")].map(
      text => `0x${text}`,
    ),
    ...[32, 128].map(length => `0x${"00".repeat(length)}`),
    ...flipped,
  ];
}
