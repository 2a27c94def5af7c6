/**
 * A block of a proof-of-authority chain, made and sealed with @ethereumjs, executed by us.
 */

import assert from "node:assert/strict";
import {test} from "node:test";
import {type Block, cliqueSigner, createSealedCliqueBlock} from "@ethereumjs/block";
import {MerkleStateManager} from "@ethereumjs/statemanager";
import {createLegacyTx} from "@ethereumjs/tx";
import {type PrefixedHexString, privateToAddress} from "@ethereumjs/util";
import {createVM, runBlock} from "@ethereumjs/vm";
import {BlockExecutor} from "../../../evm/execution/blockExecutor.ts";
import {createChainRules} from "../../../evm/execution/chainRules.ts";
import {type Genesis, parseGenesis} from "../../../evm/execution/genesis.ts";
import {toHex} from "../../../storage/hex.ts";
import {codeOf} from "../../support/estimates/assembler.ts";

const KEY = new Uint8Array(32).fill(1);
const SIGNER = privateToAddress(KEY);
/** Stores COINBASE in slot 0. */
const CONTRACT: PrefixedHexString = `0x${"00".repeat(19)}cc`;
const CODE = codeOf("COINBASE PUSH1 0 SSTORE STOP");
const FORKS = "homestead eip150 eip155 eip158 byzantium constantinople petersburg istanbul berlin london";

test("a clique block's signer is its coinbase and gets its fees", async () => {
  const genesis = makeGenesis();
  const {executor, difference} = await BlockExecutor.start(
    {
      forks: genesis.forks,
      nodes: new Map(),
      blockHash: () => undefined,
    },
    genesis,
  );
  const block = await makeBlock(genesis, difference.header.hash);
  const {accounts} = await executor.execute(block.serialize());
  const changes = new Map(
    Array.from({length: accounts.count}, (_, i) => accounts.at(i)).map(a => [toHex(a.address), a.change]),
  );
  assert.deepEqual(
    Buffer.from(changes.get(CONTRACT)?.storage?.[0]?.value.subarray(12) ?? []),
    Buffer.from(SIGNER),
  );
  // It paid itself the tip; only the base fee is gone.
  assert.equal(
    changes.get(toHex(SIGNER))?.balance,
    10n ** 18n - block.header.gasUsed * (block.header.baseFeePerGas ?? 0n),
  );
});

function makeGenesis(): Genesis {
  const zeros = (bytes: number): string => "00".repeat(bytes);
  return parseGenesis(
    JSON.stringify({
      config: {
        chainId: 5,
        ...Object.fromEntries(FORKS.split(" ").map(name => [`${name}Block`, 0])),
        clique: {period: 5, epoch: 30000},
      },
      difficulty: "0x1",
      gasLimit: "0x1c9c380",
      extraData: `0x${zeros(32)}${toHex(SIGNER).slice(2)}${zeros(65)}`,
      alloc: {[toHex(SIGNER)]: {balance: "1000000000000000000"}, [CONTRACT]: {balance: "0", code: CODE}},
    }),
  );
}

async function makeBlock(genesis: Genesis, parentHash: Uint8Array): Promise<Block> {
  const common = createChainRules(genesis.forks);
  common.setHardfork("london");
  const stateManager = new MerkleStateManager({common});
  await stateManager.generateCanonicalGenesis({
    [toHex(SIGNER)]: ["0xde0b6b3a7640000"],
    [CONTRACT]: ["0x0", CODE],
  });
  const evmOpts = {
    common,
    stateManager,
    cliqueSigner: cliqueSigner as (header: object) => ReturnType<typeof cliqueSigner>,
  };
  const vm = await createVM({common, stateManager, evmOpts});
  const unsigned = createLegacyTx(
    {nonce: 0, gasPrice: 2_000_000_000n, gasLimit: 100_000n, to: CONTRACT},
    {common},
  );
  const transactions = [unsigned.sign(KEY, false)];
  const seal = (fields: object): Block => {
    const header = {
      number: 1n,
      parentHash,
      timestamp: 10n,
      gasLimit: 30_000_000n,
      difficulty: 2n,
      extraData: Buffer.alloc(97),
    };
    return createSealedCliqueBlock(
      {header: {...header, baseFeePerGas: 875_000_000n, ...fields}, transactions},
      KEY,
      {common},
    );
  };
  const transactionsTrie = await seal({}).genTxTrie();
  const {stateRoot, receiptsRoot, gasUsed, logsBloom} = await runBlock(vm, {
    block: seal({transactionsTrie}),
    generate: true,
    skipHeaderValidation: true,
  });
  return seal({transactionsTrie, stateRoot, receiptTrie: receiptsRoot, gasUsed, logsBloom});
}
