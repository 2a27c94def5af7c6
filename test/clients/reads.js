/** Old blocks read by viem, ethers 6 and ethers 5, as from an archive node. */
import assert from "node:assert/strict";
import {Contract, JsonRpcProvider} from "ethers";
import {ethers as ethers5} from "ethers5";
import {createPublicClient, erc20Abi, http} from "viem";

/** Finalized, and 80 blocks before the newest. */
const OLD = 20;
const BALANCE_OF = ["function balanceOf(address) view returns (uint256)"];

export async function checkReads(url, {token}) {
  const seen = {
    viem: await readByViem(url, token),
    "ethers 6": await readByEthers(new JsonRpcProvider(url), Contract, token),
    "ethers 5": await readByEthers(new ethers5.providers.JsonRpcProvider(url), ethers5.Contract, token),
  };
  for (const [client, values] of Object.entries(seen)) {
    console.log(`${client}, block ${OLD}: balance ${values.balance}, tokens ${values.tokens}`);
    assert.deepEqual(values, seen.viem);
  }
  assert.equal(BigInt(seen.viem.slot), seen.viem.tokens);
  assert.ok(seen.viem.balance > 0n && seen.viem.tokens > 0n && seen.viem.code.length > 2);
}

async function readByViem(url, token) {
  const client = createPublicClient({transport: http(url)});
  const blockNumber = BigInt(OLD);
  const block = await client.getBlock({blockNumber});
  const byHash = await client.getBlock({blockHash: block.hash});
  assert.equal(byHash.number, blockNumber);
  return {
    balance: await client.getBalance({address: token.holder, blockNumber}),
    nonce: await client.getTransactionCount({address: token.holder, blockNumber}),
    code: await client.getCode({address: token.address, blockNumber}),
    slot: await client.getStorageAt({address: token.address, slot: token.holderBalanceSlot, blockNumber}),
    tokens: await client.readContract({
      address: token.address,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [token.holder],
      blockNumber,
    }),
    hash: block.hash,
  };
}

/** With either version: they differ in a name, in their integers, and in the blocks that they take. */
async function readByEthers(provider, Contract, token) {
  const isOld = provider.getStorage === undefined;
  const {holder, address, holderBalanceSlot} = token;
  const readSlot = (isOld ? provider.getStorageAt : provider.getStorage).bind(provider);
  const tokens = await new Contract(address, BALANCE_OF, provider).balanceOf(holder, {blockTag: OLD});
  // ethers 6 requires the list of transactions, which is not stored.
  const block = isOld
    ? await provider.getBlock(OLD)
    : await provider.send("eth_getBlockByNumber", [`0x${OLD.toString(16)}`, false]);
  if (isOld) assert.equal((await provider.getBlock(block.hash)).number, OLD);
  else await assert.rejects(provider.getBlock(OLD));
  const values = {
    balance: BigInt(await provider.getBalance(holder, OLD)),
    nonce: await provider.getTransactionCount(holder, OLD),
    code: await provider.getCode(address, OLD),
    slot: await readSlot(address, holderBalanceSlot, OLD),
    tokens: BigInt(tokens),
    hash: block.hash,
  };
  provider.destroy?.();
  return values;
}
