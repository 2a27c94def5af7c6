/** What calls cost and how much gas they pass on: EIP-150, EIP-161, EIP-2929, EIP-7702. */
import assert from "node:assert/strict";
import {keccak256} from "../../../../storage/hash/keccak.ts";
import {toHex} from "../../../../storage/hex.ts";
import {assemble, OP, type Part} from "../../estimates/bytecode.ts";
import {CONTRACT, type EvmKit, type GasCase} from "../evmKit.ts";
import {addressOf} from "../randomState.ts";

const [COLD, WARM] = [2600, 100];
const [VALUE, NEW_ACCOUNT, STIPEND] = [9000, 25_000, 2300];
const [PLAIN, ABSENT, CALLEE, DELEGATED, SECOND] = [0xacc0n, 0xab5en, 0xca11n, 0xde1en, 0xde1fn];
const ALL = 2n ** 256n - 1n;
const KINDS = [OP.CALL, OP.CALLCODE, OP.DELEGATECALL, OP.STATICCALL];
/** Returns the gas that it was given, less the 2 of GAS. */
const TELL_GAS = assemble(OP.GAS, 0n, OP.MSTORE, 32n, 0n, OP.RETURN);
const RETURN_WORD = [0n, OP.MSTORE, 32n, 0n, OP.RETURN];

/** @returns a call without input or output, and what its pushes cost */
function call(opcode: number, to: bigint, gas: Part, value = 0n): {code: Uint8Array; pushes: number} {
  const hasValue = opcode === OP.CALL || opcode === OP.CALLCODE;
  const code = assemble(0n, 0n, 0n, 0n, ...(hasValue ? [value] : []), to, gas, opcode);
  return {code, pushes: hasValue ? 21 : 18};
}

function delegation(to: bigint): Uint8Array {
  return assemble(Uint8Array.of(0xef, 1, 0), addressOf(to));
}

export const CALL_CASES: readonly GasCase[] = [
  ...KINDS.map(opcode => ({
    title: `call 0x${opcode.toString(16)} costs the access to the account`,
    check: (kit: EvmKit) => {
      for (const [to, access] of [
        [PLAIN, COLD],
        [ABSENT, COLD],
        [CONTRACT - 1n, COLD],
        [0x09n, WARM],
      ] as const) {
        if (to === 0x09n) continue;
        const {code, pushes} = call(opcode, to, 0n);
        kit.expectGas(code, pushes + access, {accounts: [[PLAIN, {balance: 1n}]]});
        kit.expectGas(assemble(to, OP.BALANCE, code), 3 + COLD + pushes + WARM);
        kit.expectFailure(code, {gas: BigInt(pushes + access - 1)});
      }
    },
  })),
  {
    title: "value costs 9 000 gas, and 25 000 to an account that is empty; 2 300 come with it",
    check: kit => {
      const setting = {balance: 10n, accounts: [[PLAIN, {balance: 1n}]]} as const;
      kit.expectGas(call(OP.CALL, PLAIN, 0n, 1n).code, 21 + COLD + VALUE - STIPEND, setting);
      kit.expectGas(call(OP.CALL, ABSENT, 0n, 1n).code, 21 + COLD + VALUE + NEW_ACCOUNT - STIPEND, setting);
      kit.expectGas(call(OP.CALL, ABSENT, 0n, 0n).code, 21 + COLD, setting);
      kit.expectGas(call(OP.CALLCODE, ABSENT, 0n, 1n).code, 21 + COLD + VALUE - STIPEND, setting);
      // More than there is: everything is charged, nothing happens.
      kit.expectGas(call(OP.CALL, PLAIN, 0n, 11n).code, 21 + COLD + VALUE - STIPEND, setting);
      kit.expectGas(call(OP.CALL, ABSENT, 0n, 11n).code, 21 + COLD + VALUE + NEW_ACCOUNT - STIPEND, setting);
      const {state} = kit.run(call(OP.CALL, ABSENT, 0n, 3n).code, setting);
      assert.deepEqual(
        [CONTRACT, ABSENT].map(address => state.accounts.get(toHex(addressOf(address)))?.balance),
        [7n, 3n],
      );
      // An empty account of the state is as good as none.
      const empty = {balance: 10n, accounts: [[PLAIN, {}]]} as const;
      kit.expectGas(call(OP.CALL, PLAIN, 0n, 1n).code, 21 + COLD + VALUE + NEW_ACCOUNT - STIPEND, empty);
    },
  },
  {
    title: "a call gets at most all but a 64th of the gas, and the stipend on top",
    check: kit => {
      const gas = 1_000_000n;
      const setting = {gas, balance: 10n, accounts: [[CALLEE, {nonce: 1n, code: TELL_GAS}]]} as const;
      for (const opcode of KINDS)
        for (const value of opcode === OP.CALL || opcode === OP.CALLCODE ? [0n, 1n] : [0n]) {
          const told = (asked: bigint) => {
            const values = opcode === OP.CALL || opcode === OP.CALLCODE ? [value] : [];
            const code = assemble(32n, 0n, 0n, 0n, ...values, CALLEE, asked, opcode, 32n, 0n, OP.RETURN);
            return kit.run(code, setting).word;
          };
          const [pushes, extra] = [
            opcode === OP.CALL || opcode === OP.CALLCODE ? 21n : 18n,
            value === 0n ? 0n : 1n,
          ];
          const left = gas - pushes - BigInt(COLD) - 3n - extra * BigInt(VALUE);
          const where = `${kit.fork}: 0x${opcode.toString(16)} with value ${value}`;
          const stipend = extra * BigInt(STIPEND);
          assert.equal(told(ALL), left - left / 64n + stipend - 2n, where);
          assert.equal(told(left - left / 64n + 1n), left - left / 64n + stipend - 2n, where);
          assert.equal(told(50_000n), 50_000n + stipend - 2n, where);
        }
    },
  },
  {
    title: "SHA-256, RIPEMD-160 and the identity cost gas by the word of their input",
    check: kit => {
      for (const [address, first, perWord] of [
        [2n, 60, 12],
        [3n, 600, 120],
        [4n, 15, 3],
      ] as const)
        for (const [bytes, memory] of [
          [0n, 0],
          [1n, 3],
          [32n, 3],
          [33n, 6],
        ] as const) {
          const gas = first + perWord * Math.ceil(Number(bytes) / 32);
          const hashed = (given: number) =>
            assemble(0n, 0n, bytes, 0n, address, BigInt(given), OP.STATICCALL);
          kit.expectGas(hashed(5000), 18 + WARM + memory + gas);
          const answered = (given: number) => kit.run(assemble(hashed(given), ...RETURN_WORD)).word;
          assert.deepEqual(
            [answered(gas), answered(gas - 1)],
            [1n, 0n],
            `${kit.fork}: precompile ${address}`,
          );
        }
    },
  },
  {
    title: "a call's input and output are memory of the caller, paid before the call",
    check: kit => {
      // 40 words: 120 gas and 3 more.
      const wide = assemble(0n, 0n, 1280n, 0n, 0n, PLAIN, 0n, OP.CALL);
      kit.expectGas(wide, 21 + COLD + 123);
      kit.expectGas(assemble(1280n, 0n, 0n, 0n, 0n, PLAIN, 0n, OP.CALL), 21 + COLD + 123);
      kit.expectGas(assemble(1280n, 0n, 640n, 320n, 0n, PLAIN, 0n, OP.CALL), 21 + COLD + 123);
      kit.expectGas(assemble(0n, ALL, 0n, ALL, 0n, PLAIN, 0n, OP.CALL), 21 + COLD);
      for (const parts of [
        [1n, ALL, 0n, 0n],
        [0n, 0n, 1n, ALL],
        [ALL, 0n, 0n, 0n],
        [0n, 0n, 2n ** 64n, 0n],
      ])
        kit.expectFailure(assemble(...parts, 0n, PLAIN, 0n, OP.CALL));
    },
  },
  {
    title: "calls go 1 024 deep",
    check: kit => {
      const again = assemble(0n, 0n, 0n, 0n, 0n, OP.ADDRESS, OP.GAS, OP.CALL);
      const code = assemble(1n, 0n, OP.SLOAD, OP.ADD, 0n, OP.SSTORE, again);
      const {state, end} = kit.run(code, {gas: 10n ** 13n});
      const depth = [...(state.accounts.get(toHex(addressOf(CONTRACT)))?.slots.values() ?? [])].map(BigInt);
      assert.deepEqual([end, depth], ["success", [1025n]]);
    },
  },
  {
    title: "EIP-7702: calls follow a delegation once, and pay for both accounts",
    since: "prague",
    check: kit => {
      const accounts = [
        [DELEGATED, {nonce: 1n, code: delegation(CALLEE)}],
        [SECOND, {nonce: 1n, code: delegation(DELEGATED)}],
        [CALLEE, {nonce: 1n, code: assemble(OP.ADDRESS, 0n, OP.MSTORE, 32n, 0n, OP.RETURN)}],
      ] as const;
      const inside = 2 + 3 + 3 + 3 + 6;
      for (const opcode of KINDS) {
        const {code, pushes} = call(opcode, DELEGATED, 1000n);
        kit.expectGas(code, pushes + 2 * COLD + inside, {accounts});
        const warm = assemble(CALLEE, OP.BALANCE, code);
        kit.expectGas(warm, 3 + COLD + pushes + COLD + WARM + inside, {accounts});
        kit.expectFailure(call(opcode, DELEGATED, 0n).code, {accounts, gas: BigInt(pushes + 2 * COLD - 1)});
        // The second delegation is not followed: its code is an invalid opcode.
        kit.expectGas(call(opcode, SECOND, 1000n).code, pushes + 2 * COLD + 1000, {accounts});
        // A precompile as target is an account without code.
        const precompile = [[DELEGATED, {nonce: 1n, code: delegation(4n)}]] as const;
        kit.expectGas(code, pushes + COLD + WARM, {accounts: precompile});
        // A delegation to the contract itself is warm.
        const self = [[DELEGATED, {nonce: 1n, code: delegation(CONTRACT)}]] as const;
        kit.expectGas(call(opcode, DELEGATED, 0n).code, pushes + COLD + WARM, {accounts: self});
      }
      const {word} = kit.run(assemble(32n, 0n, 0n, 0n, 0n, DELEGATED, OP.GAS, OP.CALL, 32n, 0n, OP.RETURN), {
        accounts,
      });
      assert.equal(word, DELEGATED);
    },
  },
  {
    title: "reads of code see a delegation as 23 bytes, and do not touch its target",
    check: kit => {
      const accounts = [[DELEGATED, {nonce: 1n, code: delegation(CALLEE)}]] as const;
      const size = kit.run(assemble(DELEGATED, OP.EXTCODESIZE, ...RETURN_WORD), {accounts});
      assert.equal(size.word, 23n);
      const hash = kit.run(assemble(DELEGATED, OP.EXTCODEHASH, ...RETURN_WORD), {accounts});
      assert.equal(hash.word, BigInt(toHex(keccak256(delegation(CALLEE)))));
      kit.expectGas(assemble(DELEGATED, OP.EXTCODESIZE, CALLEE, OP.BALANCE), 6 + 2 * COLD, {accounts});
      if (kit.has("prague")) return;
      // Before prague it is code that begins with an invalid opcode.
      kit.expectGas(call(OP.CALL, DELEGATED, 1000n).code, 21 + COLD + 1000, {accounts});
    },
  },
];
