/** What a call is as a transaction, against @ethereumjs/tx. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {RLP} from "@ethereumjs/rlp";
import {getCalldataFloorGas} from "@ethereumjs/tx";
import fc from "fast-check";
import {forkRules} from "../../../../../evm/execution/rules/forkRules.ts";
import {paidGas} from "../../../../../evm/execution/rules/gas.ts";
import {
  encodeUnsigned,
  missingEip,
  paidFieldsOf,
  typeOf,
} from "../../../../../workers/estimate/call/callTransaction.ts";
import type {EstimateCall} from "../../../../../workers/messages/estimateCall.ts";
import {HARDFORKS} from "../../../../../workers/messages/estimateSettings.ts";
import {createTransaction} from "../../../../support/estimates/callAsTransaction.ts";
import {createCommon} from "../../../../support/estimates/hardforks.ts";
import {packWords} from "../../../../support/estimates/packedWords.ts";
import {propertyRuns} from "../../../../support/soak.ts";

const CHAIN_ID = 1337n;

const bytes = (length: number) => fc.uint8Array({minLength: length, maxLength: length});
const wei = fc.oneof(fc.bigInt({min: 0n, max: 300n}), fc.bigInt({min: 0n, max: 2n ** 128n}));
const data = fc.oneof(
  fc.uint8Array({maxLength: 100}),
  fc.array(fc.constantFrom(0, 0, 0, 1, 255), {maxLength: 400}).map(values => Uint8Array.from(values)),
);
const accessList = fc.array(
  fc.record({address: bytes(20), storageKeys: fc.array(bytes(32), {maxLength: 3}).map(packWords)}),
  {maxLength: 3},
);
const authorizationList = fc.array(
  fc.record({
    chainId: fc.constantFrom(0n, CHAIN_ID),
    address: bytes(20),
    nonce: fc.bigInt({min: 0n, max: 2n ** 64n - 2n}),
    yParity: fc.constantFrom(0n, 1n),
    r: fc.bigInt({min: 1n, max: 2n ** 256n - 1n}),
    s: fc.bigInt({min: 1n, max: 2n ** 255n - 20n}),
  }),
  {minLength: 1, maxLength: 3},
);
const common = {
  block: fc.constant(0),
  value: fc.oneof(wei, fc.constant(2n ** 256n - 1n)),
  data,
  nonce: fc.bigInt({min: 0n, max: 2n ** 64n - 2n}),
};
const to = fc.option(bytes(20), {nil: undefined});
const fees = fc.tuple(wei, wei).map(([tip, more]) => ({maxPriorityFeePerGas: tip, maxFeePerGas: tip + more}));
const call: fc.Arbitrary<EstimateCall> = fc
  .oneof(
    fc.record({...common, to, type: fc.constant(0 as const), gasPrice: wei}),
    fc.record({...common, to, type: fc.constant(1 as const), gasPrice: wei, accessList}),
    fc.tuple(fc.record({...common, to, type: fc.constant(2 as const), accessList}), fees).map(join),
    fc
      .tuple(
        fc.record({...common, to: bytes(20), type: fc.constant(4 as const), accessList, authorizationList}),
        fees,
      )
      .map(join),
  )
  .map(({to, ...rest}) => (to === undefined ? rest : {...rest, to}));

function join<A extends object, B extends object>([a, b]: [A, B]): A & B {
  return {...a, ...b};
}

/** Of the forks that the call's type is known to. */
function hasType(call: EstimateCall, hardfork: string): boolean {
  const rules = forkRules(hardfork);
  return missingEip(typeOf(call, rules), rules) === undefined;
}

test("what is taken before execution, and the floor, are the library's under every hard fork", () => {
  fc.assert(
    fc.property(call, fc.constantFrom(...HARDFORKS), (call, hardfork) => {
      fc.pre(hasType(call, hardfork));
      const transaction = createTransaction(call, createCommon(hardfork, CHAIN_ID), 10_000_000n);
      const paid = paidGas(paidFieldsOf(call), forkRules(hardfork));
      assert.equal(paid.intrinsic, transaction.getIntrinsicGas());
      const hasFloor = createCommon(hardfork, CHAIN_ID).isActivatedEIP(7623);
      assert.equal(paid.floor, hasFloor ? getCalldataFloorGas(transaction) : 0n);
    }),
    {numRuns: propertyRuns(300)},
  );
});

test("what would be signed is what the library signs, for every type", () => {
  fc.assert(
    fc.property(call, fc.bigInt({min: 21_000n, max: 2n ** 24n}), (call, gasLimit) => {
      const common = createCommon("prague", CHAIN_ID);
      const signed = createTransaction(call, common, gasLimit).getMessageToSign();
      const message = signed instanceof Uint8Array ? signed : RLP.encode(signed);
      assert.deepEqual(
        Buffer.from(encodeUnsigned(call, typeOf(call, forkRules("prague")), 99n, gasLimit, CHAIN_ID)),
        Buffer.from(message),
        `type ${call.type}`,
      );
    }),
    {numRuns: propertyRuns(200)},
  );
});

test("a call without a nonce takes the sender's", () => {
  const call: EstimateCall = {block: 0, to: new Uint8Array(20), value: 0n, data: new Uint8Array(0), type: 0};
  assert.deepEqual(
    encodeUnsigned(call, 0, 7n, 21_000n, CHAIN_ID),
    encodeUnsigned({...call, nonce: 7n}, 0, 8n, 21_000n, CHAIN_ID),
  );
});

test("each type is missing before the fork that brought it", () => {
  const first = {2: "london", 4: "prague"} as const;
  for (const [type, fork] of Object.entries(first))
    for (const hardfork of HARDFORKS) {
      const call: EstimateCall = {
        block: 0,
        value: 0n,
        data: new Uint8Array(0),
        type: Number(type) as 2 | 4,
      };
      assert.equal(
        hasType(call, hardfork),
        HARDFORKS.indexOf(hardfork) >= HARDFORKS.indexOf(fork),
        `type ${type} under ${hardfork}`,
      );
    }
});
