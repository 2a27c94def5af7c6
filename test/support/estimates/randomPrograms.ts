/** fast-check arbitraries for EVM programs, with bounded loops. Their statements leave the stack as it was. */
import fc from "fast-check";
import {assemble, OP, type Part, pushWidth} from "./bytecode.ts";
import {createCommon} from "./hardforks.ts";

/** The programs lie at these addresses and call each other there. */
export const PROGRAM_ADDRESSES: readonly bigint[] = [0xc0de00n, 0xc0de01n, 0xc0de02n, 0xc0de03n];
/** An account without code, an account that does not exist, and precompiles. Most take any input. */
const OTHER_ADDRESSES: readonly bigint[] = [
  ...[0xacc0n, 0xab5e47n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n],
  ...[0x0an, 0x0bn, 0x0fn, 0x11n, 0x12n, 0x100n],
];
export const PLAIN_ADDRESS = 0xacc0n;

/** The address that a call, a read or a SELFDESTRUCT goes to. */
type Target = fc.Arbitrary<bigint>;

interface Abilities {
  /** Programs have its opcodes. From berlin on. */
  readonly hardfork: string;
  /** Further addresses to call and read. */
  readonly addresses: readonly bigint[];
}

/** Whether `hardfork` is this fork or a later one. */
type Has = (fork: string) => boolean;

/** Code that depends on its position. Its length does not. */
interface Fragment {
  readonly bytes: number;
  at(offset: number): Uint8Array;
}

function plain(...parts: readonly Part[]): Fragment {
  const code = assemble(...parts);
  return {bytes: code.length, at: () => code};
}

function sequence(fragments: readonly Fragment[]): Fragment {
  return {
    bytes: fragments.reduce((sum, {bytes}) => sum + bytes, 0),
    at: offset => {
      let at = offset;
      return Buffer.concat(
        fragments.map(fragment => {
          const code = fragment.at(at);
          at += fragment.bytes;
          return code;
        }),
      );
    },
  };
}

/** `condition` leaves a word. If the word is not 0, `body` is skipped. */
function unless(condition: Uint8Array, body: Fragment): Fragment {
  const bytes = condition.length + 4 + body.bytes + 1;
  return {
    bytes,
    at: offset =>
      assemble(
        condition,
        pushWidth(BigInt(offset + bytes - 1), 2),
        OP.JUMPI,
        body.at(offset + condition.length + 4),
        OP.JUMPDEST,
      ),
  };
}

function loop(times: number, body: Fragment): Fragment {
  const bytes = 2 + 1 + body.bytes + 4 + 1 + 3 + 1 + 1;
  return {
    bytes,
    at: offset =>
      assemble(
        pushWidth(BigInt(times), 1),
        OP.JUMPDEST,
        body.at(offset + 3),
        pushWidth(1n, 1),
        OP.SWAP1,
        OP.SUB,
        OP.DUP1,
        pushWidth(BigInt(offset + 2), 2),
        OP.JUMPI,
        OP.POP,
      ),
  };
}

const small = fc.bigInt({min: 0n, max: 5n});
const offset = fc.oneof(fc.bigInt({min: 0n, max: 200n}), fc.bigInt({min: 0n, max: 20_000n}));
const size = fc.oneof(fc.constant(0n), fc.bigInt({min: 0n, max: 100n}), fc.bigInt({min: 0n, max: 3000n}));
const edges = [0n, 1n, 31n, 32n, 64n, 128n, 255n, 256n].flatMap(bits => [
  2n ** bits - 1n,
  2n ** bits,
  -(2n ** bits),
]);
const word = fc.oneof(
  small,
  fc.constantFrom(...edges.map(edge => BigInt.asUintN(256, edge))),
  fc.bigInt({min: 0n, max: 300n}),
  fc.bigInt({min: 0n, max: 2n ** 256n - 1n}),
);
function createTarget({addresses}: Abilities): Target {
  return fc.oneof(
    {weight: 3, arbitrary: fc.constantFrom(...PROGRAM_ADDRESSES)},
    fc.constantFrom(...OTHER_ADDRESSES, ...addresses),
  );
}

/** undefined: all gas that is left. */
const callGas = fc.oneof(
  fc.constant<bigint | undefined>(undefined),
  fc.bigInt({min: 0n, max: 3000n}),
  fc.bigInt({min: 0n, max: 100_000n}),
);

/** Initcode of up to 32 bytes, at the end of the memory word at 0. It may write a slot, and returns zeros as code or fails. */
const initcode = fc
  .record({
    value: small,
    codeBytes: fc.bigInt({min: 0n, max: 200n}),
    end: fc.constantFrom<number>(OP.RETURN, OP.RETURN, OP.RETURN, OP.INVALID, OP.STOP),
  })
  .map(({value, codeBytes, end}) => assemble(value, 1n, OP.SSTORE, codeBytes, 0n, end));

/** What is done with the word that an opcode leaves: it is dropped, or written to memory. */
const used = fc.oneof(
  fc.constant(assemble(OP.POP)),
  offset.map(at => assemble(at, OP.MSTORE)),
);

function operations(has: Has): fc.Arbitrary<Fragment> {
  const of = (count: number, opcodes: readonly number[]) =>
    fc
      .tuple(fc.array(word, {minLength: count, maxLength: count}), fc.constantFrom(...opcodes), used)
      .map(([words, opcode, use]) => plain(...words, opcode, use));
  const binary = [
    1, 2, 3, 4, 5, 6, 7, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1a, 0x1b, 0x1c, 0x1d,
  ];
  const unary: number[] = [OP.ISZERO, OP.NOT, OP.CALLDATALOAD, OP.BLOCKHASH];
  if (has("cancun")) unary.push(0x49);
  if (has("osaka")) unary.push(OP.CLZ);
  const none = [
    0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x58, 0x59, 0x5a,
  ];
  none.push(OP.RETURNDATASIZE, OP.SELFBALANCE);
  if (has("london")) none.push(OP.BASEFEE);
  if (has("shanghai")) none.push(OP.PUSH0);
  if (has("cancun")) none.push(OP.BLOBBASEFEE);
  return fc.oneof({weight: 4, arbitrary: of(2, binary)}, of(1, unary), of(3, [0x08, OP.MULMOD]), of(0, none));
}

/** DUP and SWAP reach below what a statement pushes, which it drops again. */
const stackStatement = fc.oneof(
  fc.tuple(fc.integer({min: 1, max: 16}), fc.constantFrom(0x7f, 0x8f)).map(([reach, before]) => {
    const words = Array.from({length: 17}, (_, at) => BigInt(at) << 200n);
    return plain(...words, before + reach, ...new Array<number>(before === 0x7f ? 18 : 17).fill(OP.POP));
  }),
  fc
    .uint8Array({minLength: 1, maxLength: 32})
    .map(bytes => plain(Uint8Array.of(0x5f + bytes.length), bytes, OP.POP)),
);

function simpleStatement(has: Has, target: Target): fc.Arbitrary<Fragment> {
  const reads: number[] = [OP.BALANCE, OP.EXTCODESIZE, OP.EXTCODEHASH];
  const always: fc.MaybeWeightedArbitrary<Fragment>[] = [
    {weight: 6, arbitrary: operations(has)},
    {weight: 1, arbitrary: stackStatement},
    fc.tuple(small, small).map(([value, slot]) => plain(value, slot, OP.SSTORE)),
    fc.tuple(small, small).map(([value, slot]) => plain(value, slot, OP.SSTORE)),
    small.map(slot => plain(slot, OP.SLOAD, OP.POP)),
    fc.tuple(word, offset).map(([value, at]) => plain(value, at, OP.MSTORE)),
    fc.tuple(small, offset).map(([value, at]) => plain(value, at, OP.MSTORE8)),
    offset.map(at => plain(at, OP.MLOAD, OP.POP)),
    fc.tuple(size, offset).map(([bytes, at]) => plain(bytes, at, OP.KECCAK256, OP.POP)),
    fc
      .tuple(size, offset, fc.integer({min: 0, max: 4}))
      .map(([bytes, at, topics]) =>
        plain(...Array.from({length: topics}, (_, topic) => BigInt(topic)), bytes, at, OP.LOG0 + topics),
      ),
    fc.tuple(target, fc.constantFrom(...reads)).map(([address, opcode]) => plain(address, opcode, OP.POP)),
    // The remaining gas decides which value is written, and whether one is written.
    fc.constant(plain(OP.GAS, 3n, OP.SSTORE)),
    fc.tuple(size, offset, offset).map(([bytes, from, to]) => plain(bytes, from, to, OP.CODECOPY)),
    fc.tuple(size, offset).map(([bytes, from]) => plain(bytes, from, 0n, OP.CALLDATACOPY)),
    fc
      .tuple(target, size, offset)
      .map(([address, bytes, to]) => plain(bytes, 0n, to, address, OP.EXTCODECOPY)),
    fc.constant(plain(OP.RETURNDATASIZE, 0n, 0n, OP.RETURNDATACOPY)),
  ];
  if (has("cancun"))
    always.push(
      fc.tuple(small, small).map(([value, slot]) => plain(value, slot, OP.TSTORE)),
      // The value in transient storage is written to permanent storage.
      fc.tuple(small, small).map(([from, to]) => plain(from, OP.TLOAD, to, OP.SSTORE)),
      fc.tuple(size, offset, offset).map(([bytes, from, to]) => plain(bytes, from, to, OP.MCOPY)),
    );
  return fc.oneof(...always);
}

function callStatement(target: Target): fc.Arbitrary<Fragment> {
  const withValue = [OP.CALL, OP.CALL, OP.CALLCODE];
  const without = [OP.DELEGATECALL, OP.STATICCALL];
  const call = fc
    .record({
      opcode: fc.constantFrom<number>(...withValue, ...without),
      address: target,
      value: fc.constantFrom(0n, 0n, 1n, 10n ** 30n),
      gas: callGas,
      input: fc.tuple(offset, size),
      output: fc.tuple(offset, size),
      isChecked: fc.boolean(),
    })
    .map(({opcode, address, value, gas, input, output, isChecked}) => {
      const made = assemble(
        output[1],
        output[0],
        input[1],
        input[0],
        ...(opcode === OP.CALL || opcode === OP.CALLCODE ? [value] : []),
        address,
        gas ?? OP.GAS,
        opcode,
      );
      // Most calls must succeed. The others note their failure.
      if (isChecked) return unless(made, plain(OP.INVALID));
      return plain(made, 4n, OP.SSTORE);
    });
  const create = fc
    .record({code: initcode, value: fc.constantFrom(0n, 0n, 1n), salt: small, isSecond: fc.boolean()})
    .map(({code, value, salt, isSecond}) => {
      const at = BigInt(32 - code.length);
      const lay = assemble(BigInt(`0x${Buffer.from(code).toString("hex")}`), 0n, OP.MSTORE);
      return isSecond
        ? plain(lay, salt, BigInt(code.length), at, value, OP.CREATE2, OP.POP)
        : plain(lay, BigInt(code.length), at, value, OP.CREATE, 2n, OP.SSTORE);
    });
  return fc.oneof({weight: 4, arbitrary: call}, create);
}

function end(target: Target): fc.Arbitrary<Fragment> {
  const returned = fc.tuple(size, offset);
  const ends: fc.MaybeWeightedArbitrary<Fragment>[] = [
    {weight: 6, arbitrary: fc.constant(plain(OP.STOP))},
    {weight: 4, arbitrary: returned.map(([bytes, at]) => plain(bytes, at, OP.RETURN))},
    {weight: 1, arbitrary: fc.constant(plain(OP.INVALID))},
    {weight: 1, arbitrary: target.map(address => plain(address, OP.SELFDESTRUCT))},
    {weight: 1, arbitrary: returned.map(([bytes, at]) => plain(bytes, at, OP.REVERT))},
  ];
  return fc.oneof(...ends);
}

/** Code that must lie at offset 0. */
export function randomProgram(abilities: Abilities): fc.Arbitrary<Uint8Array> {
  const target = createTarget(abilities);
  const common = createCommon(abilities.hardfork, 1n);
  const has: Has = fork => common.gteHardfork(fork);
  const {statement} = fc.letrec<{statement: Fragment; body: Fragment}>(tie => ({
    body: fc.array(tie("statement"), {minLength: 1, maxLength: 4}).map(sequence),
    statement: fc.oneof(
      {maxDepth: 2, withCrossShrink: true},
      {weight: 8, arbitrary: simpleStatement(has, target)},
      {weight: 4, arbitrary: callStatement(target)},
      {
        weight: 1,
        arbitrary: fc.tuple(fc.integer({min: 1, max: 60}), tie("body")).map(([n, body]) => loop(n, body)),
      },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.bigInt({min: 0n, max: 300_000n}), fc.constantFrom<number>(OP.LT, OP.GT), tie("body"))
          .map(([gas, comparison, body]) => unless(assemble(gas, OP.GAS, comparison), body)),
      },
      {
        weight: 1,
        arbitrary: fc.tuple(small, tie("body")).map(([slot, body]) => unless(assemble(slot, OP.SLOAD), body)),
      },
    ),
  }));
  const whole = fc
    .tuple(fc.array(statement, {maxLength: 10, size: "max"}), end(target))
    .map(([statements, last]) => sequence([...statements, last]).at(0));
  const broken = fc
    .tuple(whole, fc.nat(), fc.uint8Array({maxLength: 4}))
    .map(([code, at, bytes]) =>
      Buffer.concat([code.subarray(0, at % code.length), bytes, code.subarray(at % code.length)]),
    );
  return fc.oneof({weight: 12, arbitrary: whole}, broken);
}
