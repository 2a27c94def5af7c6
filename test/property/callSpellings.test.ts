import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {encodeHex} from "../../client/bytes/hex.ts";
import {parseEstimateCall} from "../../server/methods/estimateGas/estimateParams.ts";
import {RpcCode, RpcError} from "../../server/rpc/rpcError.ts";
import type {
  AccessListEntry,
  AccountOverride,
  Authorization,
  EstimateCall,
} from "../../workers/messages/estimateCall.ts";
import {splitWords} from "../../workers/messages/estimateCall.ts";
import {ADDRESS, HASH, NOT_SENT, VIEW} from "../support/estimates/estimateCalls.ts";
import {packWords} from "../support/estimates/packedWords.ts";
import {finishWork} from "../support/http/wholeWork.ts";
import {propertyRuns} from "../support/soak.ts";

const bytes = (length: number) => fc.uint8Array({minLength: length, maxLength: length});
const below = (bound: bigint) => fc.bigInt(0n, bound - 1n);
const wei = fc.oneof(below(2n ** 256n), below(2n ** 20n));
const u64 = below(2n ** 64n - 1n);
/** Objects have Object.prototype, as those of the parser do. */
const plain = {noNullPrototype: true};
const maybe: {requiredKeys: []; noNullPrototype: boolean} = {...plain, requiredKeys: []};

const anyAccessList: fc.Arbitrary<AccessListEntry[]> = fc.array(
  fc.record({address: bytes(20), storageKeys: fc.array(bytes(32), {maxLength: 3}).map(packWords)}, plain),
  {maxLength: 3},
);
const anyAuthorization: fc.Arbitrary<Authorization> = fc.record(
  {
    chainId: wei,
    address: bytes(20),
    nonce: below(2n ** 64n),
    yParity: below(256n),
    r: wei,
    s: wei,
  },
  plain,
);
const anySlots = fc
  .uniqueArray(fc.tuple(bytes(32), bytes(32)), {selector: ([slot]) => encodeHex(slot), maxLength: 3})
  .map(slots => packWords(slots.flat()));
const anyStorage = fc.oneof(fc.constant({}), fc.record({slots: anySlots, replacesStorage: fc.boolean()}));
const anyOverrides: fc.Arbitrary<AccountOverride[]> = fc.uniqueArray(
  fc
    .tuple(
      fc.record({address: bytes(20)}),
      fc.record({balance: wei, nonce: u64, code: fc.uint8Array({maxLength: 40})}, maybe),
      anyStorage,
    )
    .map(parts => Object.assign({}, ...parts) as AccountOverride),
  {selector: account => encodeHex(account.address), maxLength: 3},
);

/** The fields that a call of each type may have. */
const anyFees = fc
  .record({maxFeePerGas: wei, maxPriorityFeePerGas: wei}, maybe)
  .filter(({maxFeePerGas: max = 2n ** 256n, maxPriorityFeePerGas: priority = 0n}) => priority <= max);
const anyTyped: fc.Arbitrary<Partial<EstimateCall> & Pick<EstimateCall, "type">> = fc.oneof(
  fc.record({type: fc.constant(0 as const), gasPrice: wei}),
  fc.record({type: fc.constant(1 as const), gasPrice: wei, accessList: anyAccessList}),
  fc.tuple(fc.record({accessList: anyAccessList}, maybe), anyFees).map(([lists, fees]) => ({
    ...(Object.keys(fees).length === 0 ? {} : {type: 2 as const}),
    ...lists,
    ...fees,
  })),
  fc
    .tuple(fc.array(anyAuthorization, {minLength: 1, maxLength: 2}), bytes(20), anyFees)
    .map(([authorizationList, to, fees]) => ({type: 4 as const, authorizationList, to, ...fees})),
);
const anyCall: fc.Arbitrary<EstimateCall> = fc
  .tuple(
    fc.record({block: fc.integer({min: 2, max: 9}), value: wei, data: fc.uint8Array({maxLength: 100})}),
    fc.record({from: bytes(20), to: bytes(20), gas: below(2n ** 64n), nonce: u64}, maybe),
    fc.record({overrides: anyOverrides}, maybe),
    anyTyped,
  )
  .map(parts => Object.assign({}, ...parts) as EstimateCall);

/** Spells a call as a client might; `pick` chooses among the spellings. */
class Speller {
  readonly pick: (count: number) => number;

  constructor(pick: (count: number) => number) {
    this.pick = pick;
  }

  amount(value: bigint): unknown {
    const hex = value.toString(16);
    const spellings: unknown[] = [`0x${hex}`, `0X${hex.toUpperCase()}`, `${value}`];
    if (value < 2n ** 53n) spellings.push(Number(value));
    return spellings[this.pick(spellings.length)];
  }

  bytes(value: Uint8Array): string {
    const hex = encodeHex(value).slice(2);
    return [`0x${hex}`, `0x${hex.toUpperCase()}`, `0X${hex}`][this.pick(3)] as string;
  }

  word(value: Uint8Array): string {
    const whole = this.bytes(value);
    const short = whole.slice(2).replace(/^0+(?=.)/, "");
    return this.pick(2) === 0 ? whole : `0x${short}`;
  }

  /** Spells every bigint and every byte string inside, whatever the field's name. */
  fields(value: unknown): unknown {
    if (typeof value === "bigint") return this.amount(value);
    if (value instanceof Uint8Array) return this.bytes(value);
    if (Array.isArray(value)) return value.map(one => this.fields(one));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.fields(one)]));
  }

  params(call: EstimateCall): unknown[] {
    const {block, overrides, type, accessList, ...fields} = call;
    const spelled = this.fields(fields) as Record<string, unknown>;
    if (accessList !== undefined) spelled.accessList = accessList.map(entry => this.listed(entry));
    if (type !== undefined && this.pick(2) === 0) spelled.type = this.amount(BigInt(type));
    if (this.pick(2) === 0) spelled.input = this.bytes(call.data);
    if (call.from === undefined && this.pick(2) === 0) spelled.from = null;
    const selector = [`0x${block.toString(16)}`, `${block}`, {blockNumber: `0X${block}`}][this.pick(3)];
    if (overrides === undefined) return [spelled, selector, null].slice(0, 2 + this.pick(2));
    return [spelled, selector, Object.fromEntries(overrides.map(account => this.override(account)))];
  }

  private listed({address, storageKeys}: AccessListEntry): unknown {
    return {address: this.bytes(address), storageKeys: splitWords(storageKeys).map(key => this.word(key))};
  }

  private override({address, slots, replacesStorage, ...fields}: AccountOverride): [string, unknown] {
    const spelled = this.fields(fields) as Record<string, unknown>;
    if (slots !== undefined) {
      const words = splitWords(slots).map(word => this.word(word));
      const spelledSlots: Record<string, string> = {};
      for (let at = 0; at < words.length; at += 2)
        spelledSlots[words[at] as string] = words[at + 1] as string;
      spelled[replacesStorage === true ? "state" : "stateDiff"] = spelledSlots;
    }
    return [this.bytes(address), spelled];
  }
}

/** For the view of estimateCalls.ts. */
const anySpelledCall = fc.tuple(anyCall, fc.infiniteStream(fc.nat())).map(([call, picks]) => {
  const speller = new Speller(count => (picks.next().value as number) % count);
  return {call, params: speller.params(call)};
});

test("any call in any spelling is read as it was meant", () => {
  fc.assert(
    fc.property(anySpelledCall, ({call, params}) => {
      const expected = {...NOT_SENT, isLatest: false, ...call};
      assert.deepEqual(finishWork(parseEstimateCall(JSON.parse(JSON.stringify(params)), VIEW)), expected);
    }),
    {numRuns: propertyRuns(300)},
  );
});

/** Every place inside JSON, as the path to it. */
function places(value: unknown, path: readonly string[] = []): string[][] {
  const inner = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [[...path], ...inner.flatMap(([key, one]) => places(one, [...path, key]))];
}

function replaceAt(value: unknown, [key, ...rest]: readonly string[], junk: unknown): unknown {
  if (key === undefined) return junk;
  const copy = (Array.isArray(value) ? [...value] : {...(value as object)}) as Record<string, unknown>;
  copy[key] = replaceAt(copy[key], rest, junk);
  return copy;
}

const junkKeys = fc.oneof(
  fc.constantFrom(
    "from",
    "gas",
    "type",
    "data",
    "state",
    "blockNumber",
    "__proto__",
    "toString",
    ADDRESS,
    "0x1",
  ),
  fc.string(),
);
const junk = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    "0x",
    "0x1",
    "latest",
    "5",
    -1,
    1.5,
    2 ** 60,
    [],
    {},
    ADDRESS,
    HASH,
    ADDRESS + HASH,
  ),
  fc.jsonValue(),
  fc.dictionary(junkKeys, fc.jsonValue()),
);
const ALLOWED: readonly number[] = [RpcCode.INVALID_PARAMS, RpcCode.BLOCK_UNKNOWN, RpcCode.NOT_FINALIZED];

function assertOnlyRpcErrors(params: readonly unknown[]): void {
  try {
    finishWork(parseEstimateCall(params, VIEW));
  } catch (error) {
    assert.ok(error instanceof RpcError, error instanceof Error ? (error.stack ?? "") : String(error));
    assert.ok(ALLOWED.includes(error.code), String(error.code));
    assert.ok(error.message.length < 500, error.message);
  }
}

test("junk only ever ends in an error with a code of this method's parameters", () => {
  fc.assert(fc.property(fc.array(junk, {maxLength: 4}), assertOnlyRpcErrors), {numRuns: propertyRuns(300)});
  fc.assert(
    fc.property(fc.array(fc.anything({withNullPrototype: true}), {maxLength: 4}), assertOnlyRpcErrors),
  );
});

test("junk in one place of a good call only ever ends in such an error", () => {
  fc.assert(
    fc.property(anySpelledCall, fc.nat(), junk, ({params}, place, value) => {
      const all = places(params).slice(1);
      const path = all[place % all.length] as string[];
      assertOnlyRpcErrors(replaceAt(params, path, value) as unknown[]);
    }),
    {numRuns: propertyRuns(300)},
  );
});
