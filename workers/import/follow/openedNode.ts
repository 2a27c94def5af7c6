/** Opens a layer-2 node as the source of an import. Nothing is asked of the node before the first block is. */

import {ForkSchedule} from "../../../evm/execution/forkSchedule.ts";
import {type Genesis, parseGenesis} from "../../../evm/execution/genesis.ts";
import {parseObject} from "../../../evm/execution/gethJson.ts";
import type {BlockReader} from "../../../nodes/blocks/blockReader.ts";
import {createTraceReader} from "../../../nodes/blocks/trace/traceReader.ts";
import {createTrieLogReader} from "../../../nodes/blocks/trielogs/trieLogReader.ts";
import {HeadSignal} from "../../../nodes/rpc/newHeads.ts";
import {Nodes} from "../../../nodes/rpc/nodes.ts";
import type {TrieRoot} from "../../../storage/block/trieRoot.ts";
import type {ImportJob} from "../../messages/importJob.ts";
import type {NodeSource} from "../../messages/importSource.ts";
import {ChainExecution} from "../chainExecution.ts";
import {readGenesis} from "../inputFile.ts";
import {SettingsFault, type SourceBlock, Stopped} from "../sourceBlock.ts";
import type {OpenedSource, SourceHost} from "../sourceHost.ts";
import {createExecuteReader} from "./executeReader.ts";
import {HeadSurvey} from "./headSurvey.ts";
import {type NodeFeed, readNodeBlocks} from "./nodeBlocks.ts";
import {readNodeGenesis} from "./nodeGenesis.ts";
import {NodeWatch} from "./nodeWatch.ts";
import {RawBlocks} from "./rawBlocks.ts";
import {chooseSource} from "./sourceChoice.ts";

/**
 * How often the node is asked for its head while there is nothing to read, even if it announces new heads. It is a small call,
 * and the connection is open already.
 */
const POLL_MS = 100;

export function openNode(source: NodeSource, job: ImportJob, host: SourceHost): OpenedSource {
  let target: number | undefined;
  let bytesRead = 0;
  const blocks = new OpenedNode(source, job, host, {
    onTarget: block => {
      target = block;
    },
    onBytes: bytes => {
      bytesRead += bytes;
    },
  }).read();
  return {blocks, input: {bytesRead: () => bytesRead, bytesTotal: undefined, target: () => target}};
}

interface Counters {
  readonly onTarget: (block: number) => void;
  readonly onBytes: (bytes: number) => void;
}

class OpenedNode {
  private readonly watch: NodeWatch;

  constructor(
    private readonly source: NodeSource,
    private readonly job: ImportJob,
    private readonly host: SourceHost,
    private readonly counters: Counters,
  ) {
    this.watch = new NodeWatch(source.nodes.urls.length, host.onEvent);
  }

  async *read(): AsyncGenerator<SourceBlock> {
    const {genesisPath, nodes: settings} = this.source;
    const genesis =
      genesisPath === undefined ? undefined : parseGenesis(await readGenesis(genesisPath, this.host.signal));
    const chainId = this.expectedChainId(genesis);
    const nodes = new Nodes({...settings, chainId}, event => this.watch.noteNode(event));
    const heads = this.followHeads();
    try {
      yield* this.readFrom(nodes, heads, genesis, chainId);
    } catch (error) {
      if (this.host.signal.aborted) throw new Stopped();
      throw error;
    } finally {
      await Promise.all([nodes.close(), heads.close()]);
    }
  }

  private followHeads(): HeadSignal {
    const {subscriptions, nodes} = this.source;
    const {headers, timeoutMs} = nodes;
    return new HeadSignal({urls: subscriptions, headers, timeoutMs, pollMs: POLL_MS}, this.host.onEvent);
  }

  private async *readFrom(
    nodes: Nodes,
    heads: HeadSignal,
    genesis: Genesis | undefined,
    chainId: bigint | undefined,
  ): AsyncGenerator<SourceBlock> {
    const {writer, signal, onEvent} = this.host;
    const {follow, to} = this.source;
    const ask: NodeFeed["ask"] = (work, ending = signal, onBytes) => nodes.use(work, ending, onBytes);
    const choice = await chooseSource({
      asked: this.source.source,
      writer: writer(),
      hasGenesis: genesis !== undefined,
      trie: this.readTrie(),
      ask,
    });
    onEvent({kind: "chosen", ...choice});
    const survey = new HeadSurvey(nodes, writer, this.source.surveyAfterMs);
    const pause = async (): Promise<void> => {
      // Not awaited: a node that does not answer must not hold up the one that is followed.
      if (follow || to !== undefined) void survey.look(signal);
      await heads.next(signal);
    };
    const onMethod = (name: string, method: string, why: string): void =>
      onEvent({kind: "method", name, method, why});
    const createExecution = (forks: ForkSchedule) => ({
      rawBlocks: new RawBlocks(forks, onMethod),
      execution: new ChainExecution(forks, this.host),
    });
    const executed = choice.source === "execute" ? createExecution(this.readForks(genesis)) : undefined;
    if (writer().latest === undefined && genesis !== undefined) {
      const {rawBlocks, execution} = executed ?? createExecution(genesis.forks);
      yield await readNodeGenesis(genesis, rawBlocks, {
        ask,
        pause,
        start: async head => (await execution.start(genesis, head)).difference,
      });
    }
    let reader: BlockReader;
    if (executed !== undefined) reader = createExecuteReader(executed.rawBlocks, executed.execution);
    else reader = choice.source === "trielogs" ? createTrieLogReader(chainId) : createTraceReader();
    const feed: NodeFeed = {
      reader: this.countBytes(reader),
      ask,
      pause,
      writer,
      rollback: (ancestor, latest) => this.rollback(ancestor, latest),
      onState: (state, reason) => this.watch.set(state, reason),
      onTarget: this.counters.onTarget,
      end: follow ? undefined : (to ?? "head"),
      signal,
    };
    try {
      yield* readNodeBlocks(feed);
    } finally {
      await executed?.execution.close();
    }
  }

  private async rollback(ancestor: number, latest: number): Promise<void> {
    await this.host.rollback(ancestor);
    this.host.onEvent({kind: "reorganised", latest, ancestor});
  }

  /** The store's, else the one asked for, else the genesis file's. @throws SettingsFault if two of them differ */
  private expectedChainId(genesis: Genesis | undefined): bigint | undefined {
    const known = this.host.writer().chain?.chainId ?? this.job.chainId;
    if (genesis === undefined) return known;
    if (known !== undefined && known !== genesis.chainId)
      throw new SettingsFault(`the genesis file: expected chain ${known}, got chain ${genesis.chainId}`);
    return genesis.chainId;
  }

  /** Of the newest block. undefined: the store does not hold its trie. */
  private readTrie(): TrieRoot | undefined {
    const writer = this.host.writer();
    const hash = writer.latest === undefined ? undefined : writer.blockHash(writer.latest);
    return hash === undefined ? undefined : writer.readTrieRoot(hash);
  }

  /** The forks of the genesis file, which may be newer, or else those that block 0 left in the store. @throws SettingsFault */
  private readForks(genesis: Genesis | undefined): ForkSchedule {
    if (genesis !== undefined) return genesis.forks;
    const config = this.host.writer().chain?.config;
    if (config === undefined)
      throw new SettingsFault(
        "the store does not have the chain's forks: give --genesis, whose config names them",
      );
    return new ForkSchedule(parseObject(JSON.parse(config), "config"));
  }

  private countBytes(reader: BlockReader): BlockReader {
    return {
      ...reader,
      read: async (node, from, to) => {
        const blocks = await reader.read(node, from, to);
        this.counters.onBytes(blocks.reduce((sum, {bytes}) => sum + bytes, 0));
        return blocks;
      },
    };
  }
}
