/**
 * fast-check arbitraries for parameters of eth_call: random programs in overridden accounts, at a random block. Most calls
 * return what the program did and what code sees.
 */
import fc from "fast-check";
import {encodeHex, quantity} from "../../../client/bytes/hex.ts";
import {codeOf} from "./assembler.ts";
import {PLAIN_ADDRESS, PROGRAM_ADDRESSES, randomProgram} from "./randomPrograms.ts";

export type CallParams = readonly [
  call: object,
  block: string,
  overrides: object,
  blockOverrides?: {readonly time?: string; readonly blobBaseFee?: string},
];

interface Chain {
  readonly hardfork: string;
  /** Each is asked for. */
  readonly blocks: readonly number[];
  /** Accounts of the chain. */
  readonly accounts: readonly string[];
  /** Times of blocks, which overrides name. Default: no block is overridden, and each call names its gas and a price. */
  readonly times?: readonly number[];
}

const addressOf = (number: bigint) => `0x${number.toString(16).padStart(40, "0")}`;
const wordOf = (number: bigint) => `0x${number.toString(16).padStart(64, "0")}`;
const RICH = `0x${"71".repeat(20)}`;
const WITNESS = `0x${"72".repeat(20)}`;
const SENDERS = [RICH, ...PROGRAM_ADDRESSES.map(addressOf)];

/** Runs a program on its own storage, and returns whether that succeeds, what it returns, the gas left, slots, and the block. */
function witnessCode(program: bigint): string {
  const seen = [
    ...["KECCAK256", "GAS", "ORIGIN", "CALLER", "CALLVALUE", "GASPRICE", "COINBASE", "TIMESTAMP", "NUMBER"],
    ...["PREVRANDAO", "GASLIMIT", "CHAINID", "SELFBALANCE", "BASEFEE"],
    ...[1, 2, 40, 256, 257].map(depth => `PUSH2 ${depth} NUMBER SUB BLOCKHASH`),
    ...[0, 1, 2, 3, 4, 5].map(slot => `PUSH1 ${slot} SLOAD`),
  ];
  const run = `PUSH1 0 PUSH1 0 CALLDATASIZE PUSH1 0 PUSH20 ${addressOf(program)} GAS DELEGATECALL`;
  const copy = "RETURNDATASIZE PUSH1 0 PUSH2 2048 RETURNDATACOPY RETURNDATASIZE PUSH2 2048";
  const words = seen.map((opcode, at) => `${opcode} PUSH2 ${32 * (at + 1)} MSTORE`);
  const parts = ["CALLDATASIZE PUSH1 0 PUSH1 0 CALLDATACOPY", run, "PUSH1 0 MSTORE", copy, ...words];
  return codeOf([...parts, `PUSH2 ${32 * (seen.length + 1)} PUSH1 0 RETURN`].join(" "));
}

function optional<T>(value: fc.Arbitrary<T>, absent: number): fc.Arbitrary<T | undefined> {
  return fc.oneof({weight: absent, arbitrary: fc.constant(undefined)}, {weight: 1, arbitrary: value});
}

export function randomCall({hardfork, blocks, accounts, times}: Chain): fc.Arbitrary<CallParams> {
  const program = randomProgram({hardfork, addresses: accounts.map(BigInt)}).map(encodeHex);
  const price = fc.constantFrom(7n, ...Array.from({length: 5}, () => 10n ** 10n)).map(quantity);
  const fields = fc.record({
    from: fc.oneof({weight: 5, arbitrary: fc.constant(RICH)}, fc.constantFrom(undefined, ...SENDERS)),
    value: fc.oneof(
      {weight: 5, arbitrary: fc.constant(undefined)},
      fc.constantFrom("0x1", quantity(10n ** 30n)),
    ),
    gas: fc.oneof(
      {weight: 3, arbitrary: fc.constant(times === undefined ? quantity(3_000_000n) : undefined)},
      fc.bigInt({min: 20_000n, max: 60_000n}).map(quantity),
      fc.bigInt({min: 60_000n, max: 2_000_000n}).map(quantity),
    ),
    gasPrice: times === undefined ? fc.constant(quantity(10n ** 10n)) : optional(price, 4),
    nonce: optional(fc.constantFrom("0x0", "0x5"), 4),
  });
  const receiver = fc.constantFrom(...PROGRAM_ADDRESSES.map(addressOf), ...accounts);
  const data = fc.uint8Array({maxLength: 60}).map(encodeHex);
  const call = fc.oneof(
    {weight: 8, arbitrary: fc.record({to: fc.constant(WITNESS), data})},
    {weight: 4, arbitrary: fc.record({to: receiver, data})},
    {weight: 1, arbitrary: fc.record({data: program})},
  );
  const slots = fc.dictionary(
    fc.bigInt({min: 0n, max: 5n}).map(wordOf),
    fc.bigInt({min: 0n, max: 5n}).map(wordOf),
  );
  const programs = fc.tuple(
    ...PROGRAM_ADDRESSES.map(address =>
      fc
        .record({code: program, slots, isWhole: fc.boolean()})
        .map(({code, slots, isWhole}) => [
          addressOf(address),
          {code, balance: "0xffff", ...(isWhole ? {state: slots} : {stateDiff: slots})},
        ]),
    ),
  );
  const others = {[RICH]: {balance: quantity(10n ** 40n)}, [addressOf(PLAIN_ADDRESS)]: {balance: "0x5"}};
  const witness = fc.record({code: fc.constantFrom(...PROGRAM_ADDRESSES).map(witnessCode), state: slots});
  const overrides = fc
    .tuple(programs, witness)
    .map(([entries, own]) => ({...Object.fromEntries(entries), ...others, [WITNESS]: own}));
  const blockOverrides = fc.record(
    {
      number: fc.bigInt({min: 30n, max: 400n}).map(quantity),
      ...(times && {time: fc.constantFrom(...times).map(time => quantity(BigInt(time)))}),
      gasLimit: fc.constantFrom("0x5208", "0x1c9c380"),
      feeRecipient: fc.constantFrom(...SENDERS),
      prevRandao: fc.bigInt({min: 0n, max: 2n ** 256n - 1n}).map(wordOf),
      baseFeePerGas: fc.constantFrom("0x0", "0x7", quantity(10n ** 9n)),
      blobBaseFee: fc.constantFrom("0x0", "0x1", "0xffff"),
    },
    {requiredKeys: []},
  );
  return fc
    .tuple(fields, call, fc.constantFrom(...blocks), overrides, optional(blockOverrides, times ? 1 : 1e9))
    .map(([fields, call, block, overrides, blockOverrides]) => {
      const params = [{...fields, ...call}, quantity(BigInt(block)), overrides] as const;
      return blockOverrides === undefined ? params : [...params, blockOverrides];
    });
}
