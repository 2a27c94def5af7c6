/** What no published test tells of the numbers in `params` (evm/interpreter/rules.ts): edges, and what older forks have. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {assemble, OP, type Part, pushWidth} from "../../../support/estimates/bytecode.ts";
import {EvmKit} from "../../../support/evm/evmKit.ts";

const [COLD_ACCOUNT, COLD_SLOT, WARM] = [2600, 2100, 100];
const [PLAIN, DELEGATED] = [0xacc0n, 0xde1en];
const SENTRY = 2300;

test("SSTORE with 2 300 gas left or less fails, whatever it would cost", () => {
  EvmKit.each(kit => {
    const code = assemble(0n, OP.SLOAD, OP.POP, 0n, 0n, OP.SSTORE);
    const before = BigInt(3 + COLD_SLOT + 2 + 6);
    kit.expectFailure(code, {gas: before + BigInt(SENTRY)});
    kit.expectGas(code, Number(before) + WARM, {gas: before + BigInt(SENTRY) + 1n});
  });
});

test("precompiles are warm, as many as the fork has", () => {
  EvmKit.each(kit => {
    const last = kit.has("prague") ? 0x11 : kit.has("cancun") ? 0x0a : 0x09;
    for (let address = 0; address <= 0x14; address++)
      kit.expectGas(
        assemble(BigInt(address), OP.BALANCE),
        3 + (address > 0 && address <= last ? WARM : COLD_ACCOUNT),
      );
    kit.expectGas(assemble(0x100n, OP.BALANCE), 3 + (kit.has("osaka") ? WARM : COLD_ACCOUNT));
  });
});

test("EIP-3529: a slot that is cleared gives back 4 800 gas since london, 15 000 before", () => {
  EvmKit.each(kit => {
    const refundOf = (...writes: readonly bigint[]) =>
      kit.run(assemble(...writes.flatMap((written): Part[] => [written, 0n, OP.SSTORE])), {
        slots: {"0x0": 1n},
      }).refund;
    const clearing = kit.has("london") ? 4800n : 15_000n;
    assert.deepEqual([refundOf(0n), refundOf(0n, 2n), refundOf(2n, 0n)], [clearing, 0n, clearing]);
    assert.equal(refundOf(0n, 1n), BigInt(5000 - COLD_SLOT - WARM));
  });
});

test("SELFDESTRUCT to a new account costs 5 000 gas and the account; since EIP-3529 it gives nothing back", () => {
  EvmKit.each(kit => {
    const gas = 3 + 5000 + COLD_ACCOUNT + 25_000;
    const {refund} = kit.expectGas(assemble(PLAIN, OP.SELFDESTRUCT), gas, {balance: 3n});
    assert.equal(refund, kit.has("london") ? 0n : 24_000n);
  });
});

test("EIP-3541: code that begins with 0xef is refused since london", () => {
  EvmKit.each(kit => {
    const {end} = kit.run(assemble(0xefn, 0n, OP.MSTORE8, 1n, 0n, OP.RETURN), {isCreation: true});
    assert.equal(end === "success", !kit.has("london"), end);
  });
});

test("EIP-170: code has 24 576 bytes at most", () => {
  EvmKit.each(kit => {
    const endOf = (size: bigint) =>
      kit.run(assemble(pushWidth(size, 3), 0n, OP.RETURN), {isCreation: true}).end;
    assert.equal(endOf(24_576n), "success");
    assert.notEqual(endOf(24_577n), "success");
  });
});

test("EIP-3860: initcode of 49 153 bytes ends the frame since shanghai", () => {
  EvmKit.each(kit => {
    const create = (size: bigint) => assemble(pushWidth(size, 3), 0n, 0n, OP.CREATE);
    if (kit.has("shanghai")) kit.expectFailure(create(49_153n));
    for (const size of kit.has("shanghai") ? [49_152n] : [49_152n, 49_153n])
      assert.equal(kit.run(create(size)).end, "success");
  });
});

test("EIP-7702: before prague a delegation is code that begins with an invalid opcode", () => {
  EvmKit.each(kit => {
    const code = assemble(Uint8Array.of(0xef, 1, 0), new Uint8Array(20));
    const setting = {accounts: [[DELEGATED, {nonce: 1n, code}]]} as const;
    const call = assemble(0n, 0n, 0n, 0n, 0n, DELEGATED, 1000n, OP.CALL);
    // To the zero address, which has no code.
    kit.expectGas(call, 21 + COLD_ACCOUNT + (kit.has("prague") ? COLD_ACCOUNT : 1000), setting);
  });
});
