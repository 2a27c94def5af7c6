/** Calls whose estimates are compared with anvil's: what the search for the least gas meets. What opcodes cost, published tests show. */
import assert from "node:assert/strict";
import {encodeHex, quantity} from "../../../../client/bytes/hex.ts";
import {encodeCreation, word} from "../../../../demo/abi.ts";
import {codeOf} from "../../../support/estimates/assembler.ts";
import type {AuthorizationObject, CallObject} from "../../../support/estimates/callObject.ts";
import {ETHER, type Person, POOR_BALANCE, people} from "./gasAccounts.ts";
import {BENEFICIARY} from "./gasChain.ts";
import {
  address,
  balanceSlot,
  type GasCase,
  initcodeOf,
  type Kit,
  loop,
  NEW_HOLDER,
  sign,
  slot,
  transfer,
} from "./gasKit.ts";

const {alice, bob, dave, poor, nobody, blocked} = people;

export function transferCases({at, call}: Kit): readonly GasCase[] {
  return [
    {title: "to a new account", call: transfer(NEW_HOLDER, 1n)},
    {title: "of nothing to a precompile", call: transfer(address(3), 0n), guessedByAnvil: true},
    {title: "to the block's beneficiary", call: transfer(BENEFICIARY, 1n)},
    {title: "to a contract that logs it", call: transfer(at("Till"), 5n)},
    {title: "from an account that has delegated", call: {...transfer(bob.address, 1n), from: dave.address}},
    {title: "from a contract", call: {...transfer(bob.address, 1n), from: at("Factory")}},
    {title: "from no named sender", call: {to: bob.address}},
    {
      title: "that names a fee cap",
      call: {...transfer(bob.address, 1n), maxFeePerGas: "0x64", maxPriorityFeePerGas: "0x1"},
    },
    {
      title: "of all that a sender has beside the fee",
      call: {
        from: poor.address,
        to: bob.address,
        value: quantity(POOR_BALANCE - 2_100_000n),
        gasPrice: "0x64",
      },
    },
    {
      title: "to a contract, as much gas as the sender can pay",
      call: {from: poor.address, to: at("Till"), gasPrice: "0x64", value: "0x5"},
    },
    {
      title: "of a whole token balance: a slot is cleared",
      call: {...call("Token", "transfer(address,uint256)", alice.address, 7n), from: bob.address},
    },
    {
      title: "of a whole token allowance",
      call: {
        ...call("Token", "transferFrom(address,address,uint256)", alice.address, bob.address, 500n),
        from: bob.address,
      },
    },
  ];
}

export function creationCases({contracts, call}: Kit): readonly GasCase[] {
  const create = (name: string, ...values: bigint[]): CallObject => ({
    from: alice.address,
    data: encodeHex(encodeCreation(contracts[name] ?? assert.fail(name), ...values)),
  });
  return [
    {title: "of nothing, from nobody", call: {}},
    {title: "that demands ether", call: {...create("Demanding", 100n), value: "0x64"}},
    {title: "of 24 576 bytes", call: {from: alice.address, data: encodeHex(initcodeOf(24_576))}},
    {
      title: "with 40 000 bytes of initcode, none zero: the floor",
      call: {
        from: alice.address,
        data: encodeHex(Buffer.concat([Buffer.of(0), Buffer.alloc(39_999, 0xff)])),
      },
    },
    {title: "with a later nonce", call: {...create("PiggyBank"), nonce: "0x5"}},
    {title: "10 times by a contract", call: call("Parent", "make(uint256)", 10n)},
    {title: "by CREATE2, then SELFDESTRUCT", call: call("Factory", "makeAndDestroy(bytes32)", word(1n))},
  ];
}

export function refundCases({at, call}: Kit): readonly GasCase[] {
  return [
    {title: "90 slots cleared, refund capped", call: call("Ledger", "clear(uint256,uint256)", 0n, 90n)},
    {title: "slots cleared and restored", call: call("Slots", "clearAndRestore(uint256,uint256)", 0n, 30n)},
    {title: "an SSTORE at the end that needs more than it costs", call: call("Slots", "writeLast()")},
    {
      title: "slots cleared behind a proxy",
      call: {...call("Ledger", "clear(uint256,uint256)", 1n, 20n), to: at("Proxy")},
    },
  ];
}

/** The 64th part of the gas that is kept back, stipends, and code that reads the remaining gas. */
export function forwardingCases({at, call, input}: Kit): readonly GasCase[] {
  const filling = input("Ledger", "fill(uint256,uint256,uint256)", 300n, 310n, 5n);
  return [
    {title: "50 calls deep", call: call("Forwarder", "nest(uint256,uint256)", 50n, 0n)},
    {
      title: "an attempt that may fail",
      call: call("Forwarder", "attempt(uint256)", 500n),
      spendsWhatItGets: true,
    },
    {
      title: "an attempt that costs more where it fails",
      call: call("Forwarder", "attemptOrElse(uint256,uint256)", 100n, 2000n),
    },
    {
      title: "a relay that demands far more than its call takes",
      call: call("Forwarder", "relay(address,bytes,uint256)", at("Ledger"), filling, 5_000_000n),
    },
    {
      title: "ether to 8 new accounts",
      call: {
        ...call(
          "Disperser",
          "disperse(address[])",
          Array.from({length: 8}, (_, i) => address(0xbb00 + i)),
        ),
        value: quantity(ETHER),
      },
    },
    {title: "the stipend to a new account", call: call("Till", "pay(address,uint256)", NEW_HOLDER, 1n)},
    {title: "code that wants much gas left", call: call("GasReader", "need(uint256)", 10_000_000n)},
    {
      title: "code that burns what it gets",
      call: {...call("GasReader", "burnDownTo(uint256)", 50_000n), gas: quantity(400_000n)},
      spendsWhatItGets: true,
    },
    {
      title: "code that calls itself without end",
      call: {...transfer(NEW_HOLDER, 0n), gas: quantity(300_000n)},
      overrides: {[NEW_HOLDER]: {code: codeOf("PUSH0 PUSH0 PUSH0 PUSH0 PUSH0 ADDRESS GAS CALL")}},
      spendsWhatItGets: true,
    },
  ];
}

/** Access lists (EIP-2930) and authorizations (EIP-7702). */
export function listCases({at, call, input}: Kit): readonly GasCase[] {
  const sum = call("Slots", "sum(uint256,uint256)", 0n, 10n);
  const slots = (count: number) => Array.from({length: count}, (_, number) => slot(number));
  const clear = input("Ledger", "fill(uint256,uint256,uint256)", 0n, 3n, 8n);
  const delegated = (authority: Person, ...authorizationList: AuthorizationObject[]): CallObject => ({
    from: alice.address,
    to: authority.address,
    data: encodeHex(clear),
    authorizationList,
  });
  const batch = input("Batcher", "run((address,bytes)[])", [
    [at("Token"), input("Token", "transfer(address,uint256)", bob.address, 1n)],
  ]);
  return [
    {
      title: "of what is read",
      call: {...sum, accessList: [{address: at("Slots"), storageKeys: slots(10)}]},
    },
    {
      title: "of what is not read",
      call: {...sum, accessList: [{address: at("Till"), storageKeys: slots(10)}]},
    },
    {
      title: "with repeats",
      call: {
        ...sum,
        gasPrice: "0x9",
        accessList: [
          {address: at("Slots"), storageKeys: [...slots(2), ...slots(2)]},
          {address: at("Slots"), storageKeys: []},
        ],
      },
    },
    {title: "of an account that exists", call: delegated(bob, sign(bob, at("Ledger"), 0n))},
    {title: "of an account that does not", call: delegated(nobody, sign(nobody, at("Ledger"), 0n))},
    {title: "for another chain: skipped", call: delegated(bob, sign(bob, at("Ledger"), 0n, 5n))},
    {title: "with a wrong nonce: skipped", call: delegated(bob, sign(bob, at("Ledger"), 4n))},
    {
      title: "two of one account",
      call: delegated(bob, sign(bob, at("Till"), 0n), sign(bob, at("Ledger"), 1n)),
    },
    {title: "that ends one", call: delegated(dave, sign(dave, address(0), 1n))},
    {
      title: "of the sender, who calls itself",
      call: {
        from: alice.address,
        to: alice.address,
        data: encodeHex(batch),
        authorizationList: [sign(alice, at("Batcher"), 1n)],
      },
    },
    {
      title: "unused beside another call",
      call: {
        ...call("Token", "transfer(address,uint256)", bob.address, 3n),
        authorizationList: [sign(bob, at("Ledger"), 0n)],
      },
    },
  ];
}

/** EIP-7623. */
export function floorCases({call}: Kit): readonly GasCase[] {
  const many = encodeHex(Buffer.alloc(2000, 0xab));
  return [
    {title: "many bytes to a new account", call: {...transfer(NEW_HOLDER, 1n), data: many}},
    ...[1800, 1900].map(rounds => ({
      title: `many bytes to code of ${rounds} rounds, next to the floor`,
      call: {...transfer(NEW_HOLDER, 0n), data: many},
      overrides: {[NEW_HOLDER]: {code: loop(rounds)}},
    })),
    {
      title: "many bytes and a slot cleared: the refund stops at the floor",
      call: {
        ...call("Ledger", "clear(uint256,uint256)", 0n, 4n),
        data: `${call("Ledger", "clear(uint256,uint256)", 0n, 4n).data}${"ab".repeat(1000)}`,
      },
    },
  ];
}

export function overrideCases({at, call, contracts}: Kit): readonly GasCase[] {
  const deployed = (name: string) => `0x${contracts[name]?.deployedBytecode}`;
  const clear = call("Ledger", "clear(uint256,uint256)", 0n, 30n);
  return [
    {
      title: "of code at an account without any",
      call: {...clear, to: NEW_HOLDER},
      overrides: {[NEW_HOLDER]: {code: deployed("Ledger")}},
    },
    {title: "that take the code away", call: clear, overrides: {[at("Ledger")]: {code: "0x"}}},
    {title: "of all slots: none is left", call: clear, overrides: {[at("Ledger")]: {state: {}}}},
    {
      title: "of all slots: two are left",
      call: clear,
      overrides: {[at("Ledger")]: {state: {[slot(3)]: slot(1), [slot(4)]: slot(1)}}},
    },
    {
      title: "of some slots",
      call: clear,
      overrides: {[at("Ledger")]: {stateDiff: {[slot(3)]: slot(0), [slot(4)]: slot(9)}}},
    },
    {
      title: "of a token balance",
      call: {...call("Token", "transfer(address,uint256)", alice.address, 3n), from: nobody.address},
      overrides: {[at("Token")]: {stateDiff: {[balanceSlot(nobody)]: slot(3)}}},
    },
    {
      title: "of a balance that pays a fee",
      call: {from: nobody.address, to: at("Till"), gasPrice: "0x64"},
      overrides: {[nobody.address]: {balance: quantity(100n * 100_000n)}},
    },
    {
      title: "of a nonce: the creation goes elsewhere",
      call: {from: blocked.address, data: encodeHex(initcodeOf(100))},
      overrides: {[blocked.address]: {nonce: "0x20"}},
    },
    {
      title: "of the code of the sender",
      call: transfer(at("Till"), 1n),
      overrides: {[alice.address]: {code: deployed("Till")}},
    },
    {
      title: "of a contract that calls another one",
      call: call("Forwarder", "call(address,bytes)", NEW_HOLDER, Buffer.alloc(4)),
      overrides: {[NEW_HOLDER]: {code: loop(700)}},
    },
  ];
}

/** Each try of a search begins with the same state, block and fees. */
export function contextCases({call}: Kit): readonly GasCase[] {
  const run = (title: string, code: string, more: Partial<CallObject> = {}): GasCase => ({
    title,
    call: {...transfer(NEW_HOLDER, 0n), ...more},
    overrides: {[NEW_HOLDER]: {code: codeOf(code), nonce: "0x1"}},
  });
  return [
    run(
      "transient storage is empty at the beginning of every run",
      "PUSH0 TLOAD PUSH1 found JUMPI PUSH1 1 PUSH0 TSTORE STOP found: PUSH0 PUSH0 REVERT",
    ),
    run(
      "a created account is gone at the beginning of every run",
      // CREATE2 of nothing; reverts where there is something.
      "PUSH0 PUSH0 PUSH0 PUSH0 CREATE2 PUSH1 created JUMPI PUSH0 PUSH0 REVERT created: STOP",
      {gas: quantity(200_000n)},
    ),
    {title: "gas that depends on the block", call: call("Witness", "spendByBlock()"), dependsOnBlock: true},
    run(
      "gas that depends on the transaction's gas price",
      "GASPRICE again: PUSH1 1 SWAP1 SUB DUP1 PUSH1 again JUMPI STOP",
      {gasPrice: "0x1ff"},
    ),
  ];
}
