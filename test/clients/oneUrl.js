/**
 * viem, ethers 6, ethers 5, web3.py and Go's ethclient with proofd's URL alone: proofd has anvil's first blocks, answers
 * for these, and forwards the rest to anvil (docs/json-rpc.md, "Calls forwarded to a node").
 */
import assert from "node:assert/strict";
import {spawn, spawnSync} from "node:child_process";
import {writeFile} from "node:fs/promises";
import {createRequire} from "node:module";
import {dirname, join} from "node:path";
import {createInterface} from "node:readline";
import {fileURLToPath} from "node:url";
import {JsonRpcProvider, Wallet} from "ethers";
import {ethers as ethers5} from "ethers5";
import {createPublicClient, createWalletClient, defineChain, http} from "viem";
import {privateKeyToAccount} from "viem/accounts";
import {runProofd, startServer} from "./server.js";

const CHAIN_ID = 424_243;
const FINALIZED = 3;
/** Keys of accounts with money. */
const KEYS = [1, 2, 3, 4, 5].map(digit => `0x${String(digit).repeat(64)}`);
/** Logs its first word and returns it. */
const LOGGER = `0x${"70".repeat(20)}`;
const LOGGER_CODE = "0x60003560005260206000a060206000f3";
const DATA = `0x${"5a".repeat(32)}`;
const addresses = KEYS.map(key => privateKeyToAccount(key).address);

/** @returns undefined if anvil is not installed */
export async function checkOneUrl(folder) {
  const anvil = await startAnvil(folder);
  if (anvil === undefined) return console.log("one URL: NOT RUN: anvil is not installed");
  try {
    await send(anvil.url, "anvil_mine", ["0x5"]);
    const db = join(folder, "one-url");
    const diffs = join(folder, "one-url.ndjson");
    await writeFile(diffs, await readBlocks(anvil));
    await runProofd(["import", "--db", db, "--diffs", diffs, "--finalized", "last", "--allow-unverified"]);
    const gateway = ["--gateway", anvil.url, "--gateway-methods", "eth_sendRawTransaction"];
    const server = await startServer(["--db", db, ...gateway]);
    try {
      await checkViem(server.url);
      await checkEthers(server.url);
      await checkEthers5(server.url);
      runProgram("web3.py", process.env.WEB3_PYTHON ?? "python3", [
        sourceOf("oneUrl.py"),
        server.url,
        KEYS[3],
      ]);
      runProgram("Go's ethclient", "go", ["run", "-C", sourceOf("ethclient"), ".", server.url, KEYS[4]]);
    } finally {
      await server.close();
    }
  } finally {
    anvil.child.kill();
  }
}

async function startAnvil(folder) {
  let binary;
  try {
    const require = createRequire(new URL("../../package.json", import.meta.url));
    binary = join(dirname(require.resolve("@foundry-rs/anvil-linux-amd64/package.json")), "bin", "anvil");
  } catch {
    return undefined;
  }
  const genesisPath = join(folder, "one-url.json");
  const forks = "homestead eip150 eip155 eip158 byzantium constantinople petersburg istanbul berlin london";
  const config = {
    chainId: CHAIN_ID,
    ...Object.fromEntries(forks.split(" ").map(name => [`${name}Block`, 0])),
    ...{terminalTotalDifficulty: 0, shanghaiTime: 0, cancunTime: 0},
  };
  const rich = Object.fromEntries(addresses.map(address => [address, {balance: "0x3635c9adc5dea00000"}]));
  const alloc = {...rich, [LOGGER]: {balance: "0x0", code: LOGGER_CODE}};
  const head = {
    nonce: "0x0",
    timestamp: "0x67748580",
    extraData: "0x",
    difficulty: "0x0",
    gasLimit: "0x1c9c380",
  };
  const genesis = {config, alloc, ...head, mixHash: `0x${"0".repeat(64)}`, baseFeePerGas: "0x7"};
  await writeFile(genesisPath, JSON.stringify(genesis));
  const child = spawn(binary, [
    "--port",
    "0",
    "--init",
    genesisPath,
    "--hardfork",
    "cancun",
    "--accounts",
    "0",
  ]);
  for await (const line of createInterface(child.stdout)) {
    const listening = /^Listening on (\S+)/.exec(line)?.[1];
    if (listening === undefined) continue;
    child.stdout.resume();
    return {child, genesis, url: `http://${listening}`};
  }
  throw new Error("anvil ended before it listened");
}

async function send(url, method, params) {
  const headers = {"content-type": "application/json"};
  const body = JSON.stringify({jsonrpc: "2.0", id: 1, method, params});
  const {result, error} = await (await fetch(url, {method: "POST", headers, body})).json();
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}

/** Anvil's first blocks, which are empty, as block differences (docs/importing.md). */
async function readBlocks({url, genesis: {config, alloc}}) {
  const lines = [];
  for (let number = 0; number <= FINALIZED; number++) {
    const block = await send(url, "eth_getBlockByNumber", [`0x${number.toString(16)}`, false]);
    const {hash, parentHash, timestamp, gasLimit, baseFeePerGas, miner, mixHash} = block;
    const header = {
      number: block.number,
      hash,
      parentHash,
      timestamp,
      gasLimit,
      baseFeePerGas,
      miner,
      mixHash,
    };
    const first = number === 0 && {chainId: `0x${CHAIN_ID.toString(16)}`, config};
    lines.push(JSON.stringify({...header, ...first, accounts: number === 0 ? alloc : {}}));
  }
  return lines.join("\n");
}

async function checkViem(url) {
  const chain = defineChain({
    id: CHAIN_ID,
    name: "anvil",
    nativeCurrency: {name: "Ether", symbol: "ETH", decimals: 18},
    rpcUrls: {default: {http: [url]}},
  });
  const client = createPublicClient({chain, transport: http(url), pollingInterval: 50});
  const wallet = createWalletClient({account: privateKeyToAccount(KEYS[0]), chain, transport: http(url)});
  const hash = await wallet.sendTransaction({to: LOGGER, data: DATA});
  const receipt = await client.waitForTransactionReceipt({hash});
  assert.equal(receipt.status, "success");
  const block = await client.getBlock({blockNumber: receipt.blockNumber, includeTransactions: true});
  assert.equal(block.transactions[0].hash, hash);
  assert.equal((await client.getTransaction({hash})).input, DATA);
  const {blockNumber} = receipt;
  assert.equal((await client.getLogs({fromBlock: blockNumber, toBlock: blockNumber}))[0].data, DATA);
  assert.ok((await client.getBlockNumber({cacheTime: 0})) >= blockNumber);
  assert.equal((await client.call({to: LOGGER, data: DATA})).data, DATA);
  assert.equal((await client.call({to: LOGGER, data: DATA, blockNumber: BigInt(FINALIZED)})).data, DATA);
  const old = await client.getBalance({address: addresses[0], blockNumber: BigInt(FINALIZED)});
  assert.ok((await client.getBalance({address: addresses[0]})) < old);
  assert.equal(await client.getTransactionCount({address: addresses[0]}), 1);
  assert.equal((await client.getBlock({blockTag: "finalized"})).number, BigInt(FINALIZED));
  const proof = await client.request({method: "chain_getProof", params: [LOGGER, [], "latest"]});
  assert.equal(proof.accountProof.key, LOGGER);
  assert.ok((await client.getFeeHistory({blockCount: 2, rewardPercentiles: [50]})).baseFeePerGas.length > 0);
  console.log(`one URL, viem: a transaction in block ${blockNumber}, its block, receipt, log, call, proof`);
}

async function checkEthers(url) {
  const provider = new JsonRpcProvider(url, undefined, {pollingInterval: 50});
  try {
    const wallet = new Wallet(KEYS[1], provider);
    const sent = await wallet.sendTransaction({to: LOGGER, data: DATA});
    const receipt = await sent.wait(1);
    const block = await provider.getBlock(receipt.blockNumber, true);
    assert.equal(block.prefetchedTransactions[0].hash, sent.hash);
    assert.equal((await provider.getTransaction(sent.hash)).data, DATA);
    const {blockNumber} = receipt;
    assert.equal((await provider.getLogs({fromBlock: blockNumber, toBlock: blockNumber}))[0].data, DATA);
    assert.equal(await provider.call({to: LOGGER, data: DATA}), DATA);
    assert.equal(await provider.call({to: LOGGER, data: DATA, blockTag: FINALIZED}), DATA);
    assert.ok(
      (await provider.getBalance(wallet.address)) < (await provider.getBalance(wallet.address, FINALIZED)),
    );
    assert.equal((await provider.getBlock("finalized")).number, FINALIZED);
    // Many calls at once: ethers puts them into batches.
    const blocks = await Promise.all(Array.from({length: 6}, (_, number) => provider.getBlock(number)));
    assert.deepEqual(
      blocks.map(({number}) => number),
      [0, 1, 2, 3, 4, 5],
    );
    console.log(`one URL, ethers 6: a transaction in block ${blockNumber}, its block, receipt, log, call`);
  } finally {
    provider.destroy();
  }
}

async function checkEthers5(url) {
  const provider = new ethers5.providers.JsonRpcProvider(url);
  provider.pollingInterval = 50;
  const wallet = new ethers5.Wallet(KEYS[2], provider);
  const sent = await wallet.sendTransaction({to: LOGGER, data: DATA});
  const {blockNumber} = await sent.wait(1);
  const block = await provider.getBlockWithTransactions(blockNumber);
  assert.equal(block.transactions[0].hash, sent.hash);
  assert.equal((await provider.getLogs({fromBlock: blockNumber, toBlock: blockNumber}))[0].data, DATA);
  assert.equal(await provider.call({to: LOGGER, data: DATA}, FINALIZED), DATA);
  assert.equal(await wallet.getTransactionCount(), 1);
  provider.removeAllListeners();
  console.log(`one URL, ethers 5: a transaction in block ${blockNumber}, its block, receipt, log, call`);
}

const sourceOf = name => fileURLToPath(new URL(name, import.meta.url));

/** A program that checks the same, and prints what it has seen. It exits with 77 if its library is not installed. */
function runProgram(what, command, args) {
  const {status, error, stdout, stderr} = spawnSync(command, args, {encoding: "utf8", timeout: 300_000});
  if (error?.code === "ENOENT" || status === 77)
    console.log(`one URL, ${what}: NOT RUN: ${error?.message ?? stderr.trim()}`);
  else if (status !== 0) throw new Error(`${what}: ${error?.message ?? stderr}`);
  else console.log(`one URL, ${what}: ${stdout.trim()}`);
}
