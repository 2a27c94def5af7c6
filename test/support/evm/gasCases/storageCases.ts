/** What slots cost, as EIP-2200, EIP-2929 and EIP-3529 say it, and what is warm after which opcode. */
import assert from "node:assert/strict";
import {assemble, OP, type Part} from "../../estimates/bytecode.ts";
import {CONTRACT, type EvmKit, type GasCase} from "../evmKit.ts";

const [COLD_SLOT, COLD_ACCOUNT, WARM] = [2100, 2600, 100];
const SENTRY = 2300;
const VALUES = [0n, 1n, 2n];
const OTHER = 0x07e4n;
const PLAIN = 0xacc0n;

/** The EIPs' rules for one write. */
function writeCost(
  kit: EvmKit,
  original: bigint,
  current: bigint,
  written: bigint,
): {gas: number; refund: number} {
  const clearing = kit.has("london") ? 4800 : 15_000;
  if (written === current) return {gas: WARM, refund: 0};
  if (current === original) {
    if (original === 0n) return {gas: 20_000, refund: 0};
    return {gas: 5000 - COLD_SLOT, refund: written === 0n ? clearing : 0};
  }
  let refund = 0;
  if (original !== 0n && current === 0n) refund -= clearing;
  if (original !== 0n && written === 0n) refund += clearing;
  if (written === original) refund += (original === 0n ? 20_000 : 5000 - COLD_SLOT) - WARM;
  return {gas: WARM, refund};
}

function checkWrites(kit: EvmKit, original: bigint, writes: readonly bigint[]): void {
  let [gas, refund, current] = [COLD_SLOT, 0, original];
  for (const written of writes) {
    const cost = writeCost(kit, original, current, written);
    gas += 6 + cost.gas;
    refund += cost.refund;
    current = written;
  }
  const code = assemble(...writes.flatMap((written): Part[] => [written, 0n, OP.SSTORE]));
  const run = kit.expectGas(code, gas, {slots: {"0x0": original}});
  assert.equal(run.refund, BigInt(refund), `${kit.fork}: refund of ${original} -> ${writes}`);
}

export const STORAGE_CASES: readonly GasCase[] = [
  ...VALUES.map(original => ({
    title: `all chains of three writes to a slot that holds ${original} cost and give back what the EIPs say`,
    check: (kit: EvmKit) => {
      for (const first of VALUES)
        for (const second of VALUES)
          for (const third of [...VALUES, 3n]) checkWrites(kit, original, [first, second, third]);
    },
  })),
  {
    title: "a slot is cold once, for reading and writing",
    check: kit => {
      kit.expectGas(assemble(0n, OP.SLOAD, 0n, OP.SLOAD), 6 + COLD_SLOT + WARM);
      kit.expectGas(assemble(0n, OP.SLOAD, 5n, OP.SLOAD), 6 + 2 * COLD_SLOT);
      kit.expectGas(assemble(0n, OP.SLOAD, 1n, 0n, OP.SSTORE), 9 + COLD_SLOT + 20_000);
      kit.expectGas(assemble(1n, 0n, OP.SSTORE, 0n, OP.SLOAD), 9 + COLD_SLOT + 20_000 + WARM);
    },
  },
  {
    title: "SSTORE with 2 300 gas left or less fails, whatever it would cost",
    check: kit => {
      const code = assemble(0n, OP.SLOAD, OP.POP, 0n, 0n, OP.SSTORE);
      const before = BigInt(3 + COLD_SLOT + 2 + 6);
      kit.expectFailure(code, {gas: before + BigInt(SENTRY)});
      kit.expectGas(code, Number(before) + WARM, {gas: before + BigInt(SENTRY) + 1n});
    },
  },
  {
    title: "an account is cold once, whichever opcode reads it first",
    check: kit => {
      const reads: [Uint8Array, number][] = [OP.BALANCE, OP.EXTCODESIZE, OP.EXTCODEHASH].map(opcode => [
        assemble(PLAIN, opcode),
        3,
      ]);
      reads.push([assemble(0n, 0n, 0n, PLAIN, OP.EXTCODECOPY), 12]);
      reads.push([assemble(0n, 0n, 0n, 0n, PLAIN, 0n, OP.STATICCALL), 18]);
      for (const [first, pushes] of reads)
        for (const [second, more] of reads)
          kit.expectGas(assemble(first, second), pushes + more + COLD_ACCOUNT + WARM);
      // The contract, the caller and precompiles are warm from the start.
      kit.expectGas(
        assemble(OP.ADDRESS, OP.BALANCE, OP.CALLER, OP.BALANCE, 9n, OP.BALANCE),
        2 + 2 + 3 + 3 * WARM,
      );
    },
  },
  {
    title: "precompiles are warm, as many as the fork has",
    check: kit => {
      const last = kit.has("prague") ? 0x11 : kit.has("cancun") ? 0x0a : 0x09;
      for (let address = 0; address <= 0x14; address++)
        kit.expectGas(
          assemble(BigInt(address), OP.BALANCE),
          3 + (address > 0 && address <= last ? WARM : COLD_ACCOUNT),
        );
      kit.expectGas(assemble(0x100n, OP.BALANCE), 3 + (kit.has("osaka") ? WARM : COLD_ACCOUNT));
    },
  },
  {
    title: "what a call made warm is cold again after it reverted",
    check: kit => {
      const spent = (end: number) => {
        const code = assemble(PLAIN, OP.BALANCE, 3n, OP.SLOAD, 0n, 0n, end);
        const call = assemble(0n, 0n, 0n, 0n, OTHER, OP.GAS, OP.DELEGATECALL);
        const accounts = [[OTHER, {nonce: 1n, code}]] as const;
        const first = kit.run(call, {accounts}).gasUsed;
        return kit.run(assemble(call, PLAIN, OP.BALANCE, 3n, OP.SLOAD), {accounts}).gasUsed - first;
      };
      assert.equal(spent(OP.RETURN), BigInt(6 + 2 * WARM), kit.fork);
      assert.equal(spent(OP.REVERT), BigInt(6 + COLD_ACCOUNT + COLD_SLOT), kit.fork);
    },
  },
  {
    title: "transient storage costs 100 gas, is seen by later calls, and dies with a revert",
    since: "cancun",
    check: kit => {
      const answer = [0n, OP.MSTORE, 32n, 0n, OP.RETURN];
      kit.expectGas(assemble(7n, 1n, OP.TSTORE, 1n, OP.TLOAD, 1n, OP.TLOAD), 12 + 3 * 100);
      for (const [end, seen] of [
        [OP.RETURN, 7n],
        [OP.REVERT, 0n],
      ] as const) {
        const code = assemble(7n, 1n, OP.TSTORE, 0n, 0n, end);
        const call = assemble(0n, 0n, 0n, 0n, OTHER, OP.GAS, OP.DELEGATECALL);
        const accounts = [[OTHER, {nonce: 1n, code}]] as const;
        assert.equal(kit.run(assemble(call, 1n, OP.TLOAD, ...answer), {accounts}).word, seen);
        // It is the account's own.
        const other = assemble(0n, 0n, 0n, 0n, 0n, OTHER, OP.GAS, OP.CALL, 1n, OP.TLOAD, ...answer);
        assert.equal(kit.run(other, {accounts}).word, 0n);
      }
    },
  },
  {
    title: "in a static call nothing is written",
    check: kit => {
      const writes: Part[][] = [
        [0n, 0n, OP.SSTORE],
        [0n, 0n, OP.LOG0],
        [0n, 0n, 0n, OP.CREATE],
        [0n, 0n, 0n, 0n, OP.CREATE2],
        [0n, OP.SELFDESTRUCT],
        [0n, 0n, 0n, 0n, 1n, CONTRACT, 0n, OP.CALL],
      ];
      if (kit.has("cancun")) writes.push([0n, 0n, OP.TSTORE]);
      for (const write of writes) {
        const accounts = [[OTHER, {nonce: 1n, balance: 9n, code: assemble(...write)}]] as const;
        const call = assemble(
          0n,
          0n,
          0n,
          0n,
          OTHER,
          50_000n,
          OP.STATICCALL,
          0n,
          OP.MSTORE,
          32n,
          0n,
          OP.RETURN,
        );
        const {word, gasUsed} = kit.run(call, {accounts});
        assert.deepEqual([word, gasUsed > 50_000n], [0n, true], `${kit.fork}: ${write}`);
        const plain = assemble(
          0n,
          0n,
          0n,
          0n,
          0n,
          OTHER,
          50_000n,
          OP.CALL,
          0n,
          OP.MSTORE,
          32n,
          0n,
          OP.RETURN,
        );
        assert.equal(kit.run(plain, {accounts}).word, 1n, `${kit.fork}: ${write}`);
      }
    },
  },
];
