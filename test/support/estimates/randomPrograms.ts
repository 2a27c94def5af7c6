/**
 * fast-check arbitraries for EVM programs. Their statements leave the stack as it was. They have bounded loops, branches on
 * gas, calls of each other, creations and every kind of end.
 */
import fc from "fast-check";
import {assemble, OP, type Part, pushWidth} from "./bytecode.ts";

/** The programs lie at these addresses and call each other there. */
export const PROGRAM_ADDRESSES: readonly bigint[] = [0xc0de00n, 0xc0de01n, 0xc0de02n, 0xc0de03n];
/** An account without code, an account that does not exist, and precompiles that take any input. */
const OTHER_ADDRESSES: readonly bigint[] = [0xacc0n, 0xab5e47n, 1n, 2n, 3n, 4n, 5n];
export const PLAIN_ADDRESS = 0xacc0n;

/** The address that a call, a read or a SELFDESTRUCT goes to. */
type Target = fc.Arbitrary<bigint>;

/** What a hard fork allows in addition to homestead. */
interface Abilities {
  /** RETURNDATA, STATICCALL, REVERT, CREATE2, EXTCODEHASH, SELFBALANCE. */
  readonly istanbul: boolean;
  /** TLOAD, TSTORE, MCOPY. */
  readonly cancun: boolean;
  /** Further addresses to call and read. */
  readonly addresses: readonly bigint[];
}

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
const word = fc.oneof(small, fc.bigInt({min: 0n, max: 2n ** 256n - 1n}));
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

function simpleStatement({istanbul, cancun}: Abilities, target: Target): fc.Arbitrary<Fragment> {
  const arithmetic = [OP.ADD, OP.MUL, OP.SUB, OP.DIV, OP.MOD, OP.EXP, OP.LT, OP.AND];
  const reads: number[] = [OP.BALANCE, OP.EXTCODESIZE, ...(istanbul ? [OP.EXTCODEHASH] : [])];
  const values: number[] = [OP.ADDRESS, OP.CALLER, OP.CALLVALUE, OP.CALLDATASIZE, OP.CODESIZE, OP.MSIZE];
  if (istanbul) values.push(OP.SELFBALANCE, OP.RETURNDATASIZE);
  const always = [
    fc.tuple(word, word, fc.constantFrom(...arithmetic)).map(([a, b, opcode]) => plain(a, b, opcode, OP.POP)),
    fc.tuple(small, small).map(([value, slot]) => plain(value, slot, OP.SSTORE)),
    fc.tuple(small, small).map(([value, slot]) => plain(value, slot, OP.SSTORE)),
    small.map(slot => plain(slot, OP.SLOAD, OP.POP)),
    fc.tuple(word, offset).map(([value, at]) => plain(value, at, OP.MSTORE)),
    fc.tuple(small, offset).map(([value, at]) => plain(value, at, OP.MSTORE8)),
    offset.map(at => plain(at, OP.MLOAD, OP.POP)),
    fc.tuple(size, offset).map(([bytes, at]) => plain(bytes, at, OP.KECCAK256, OP.POP)),
    fc.tuple(size, offset).map(([bytes, at]) => plain(7n, bytes, at, OP.LOG1)),
    fc.tuple(target, fc.constantFrom(...reads)).map(([address, opcode]) => plain(address, opcode, OP.POP)),
    fc.constantFrom(...values).map(opcode => plain(opcode, OP.POP)),
    // The remaining gas decides which value is written, and whether one is written.
    fc.constant(plain(OP.GAS, 3n, OP.SSTORE)),
    fc.tuple(size, offset, offset).map(([bytes, from, to]) => plain(bytes, from, to, OP.CODECOPY)),
    fc.tuple(size, offset).map(([bytes, from]) => plain(bytes, from, 0n, OP.CALLDATACOPY)),
    fc
      .tuple(target, size, offset)
      .map(([address, bytes, to]) => plain(bytes, 0n, to, address, OP.EXTCODECOPY)),
  ];
  if (istanbul) always.push(fc.constant(plain(OP.RETURNDATASIZE, 0n, 0n, OP.RETURNDATACOPY)));
  if (cancun)
    always.push(
      fc.tuple(small, small).map(([value, slot]) => plain(value, slot, OP.TSTORE)),
      // The value in transient storage is written to permanent storage.
      fc.tuple(small, small).map(([from, to]) => plain(from, OP.TLOAD, to, OP.SSTORE)),
      fc.tuple(size, offset, offset).map(([bytes, from, to]) => plain(bytes, from, to, OP.MCOPY)),
    );
  return fc.oneof(...always);
}

function callStatement({istanbul}: Abilities, target: Target): fc.Arbitrary<Fragment> {
  const withValue = [OP.CALL, OP.CALL, OP.CALLCODE];
  const without = [OP.DELEGATECALL, ...(istanbul ? [OP.STATICCALL] : [])];
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
      return istanbul && isSecond
        ? plain(lay, salt, BigInt(code.length), at, value, OP.CREATE2, OP.POP)
        : plain(lay, BigInt(code.length), at, value, OP.CREATE, 2n, OP.SSTORE);
    });
  return fc.oneof({weight: 4, arbitrary: call}, create);
}

function end({istanbul}: Abilities, target: Target): fc.Arbitrary<Fragment> {
  const returned = fc.tuple(size, offset);
  const ends: fc.MaybeWeightedArbitrary<Fragment>[] = [
    {weight: 6, arbitrary: fc.constant(plain(OP.STOP))},
    {weight: 4, arbitrary: returned.map(([bytes, at]) => plain(bytes, at, OP.RETURN))},
    {weight: 1, arbitrary: fc.constant(plain(OP.INVALID))},
    {weight: 1, arbitrary: target.map(address => plain(address, OP.SELFDESTRUCT))},
  ];
  if (istanbul) ends.push({weight: 1, arbitrary: returned.map(([bytes, at]) => plain(bytes, at, OP.REVERT))});
  return fc.oneof(...ends);
}

/** Code that must lie at offset 0. */
export function randomProgram(abilities: Abilities): fc.Arbitrary<Uint8Array> {
  const target = createTarget(abilities);
  const {statement} = fc.letrec<{statement: Fragment; body: Fragment}>(tie => ({
    body: fc.array(tie("statement"), {minLength: 1, maxLength: 4}).map(sequence),
    statement: fc.oneof(
      {maxDepth: 2, withCrossShrink: true},
      {weight: 8, arbitrary: simpleStatement(abilities, target)},
      {weight: 4, arbitrary: callStatement(abilities, target)},
      {
        weight: 1,
        arbitrary: fc.tuple(fc.integer({min: 1, max: 6}), tie("body")).map(([n, body]) => loop(n, body)),
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
  return fc
    .tuple(fc.array(statement, {maxLength: 8}), end(abilities, target))
    .map(([statements, last]) => sequence([...statements, last]).at(0));
}
