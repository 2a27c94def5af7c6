/** The commands of docs/following.md that follow a local geth: as printed, but for names of programs, ports and folders. */
import assert from "node:assert/strict";
import {join} from "node:path";
import {createInterface} from "node:readline";
import {test} from "node:test";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {readBlock, readDocument, readSection} from "../support/documents/printedBlocks.ts";
import {withFollower} from "../support/http/nodeFollower.ts";
import {startChild} from "../support/processes/childProcesses.ts";
import {GETH} from "../support/processes/clientKinds.ts";
import {findNode} from "../support/processes/nodePrograms.ts";
import {once, within} from "../support/wait.ts";

const FREE_PORTS = "--http.port 0 --authrpc.port 0 --port 0 --nodiscover --ipcdisable";
const WAIT_BLOCKS = 3;

test("the three lines of docs/following.md make geth's development chain, whose blocks proofd executes", async () => {
  const lines = readBlock(readSection(readDocument("docs/following.md"), "A local geth"), "sh")
    .trim()
    .split("\n");
  const [genesis = "", run = "", serve = ""] = lines;
  assert.ok(lines.length === 3 && serve.startsWith("proofd serve "), lines.join("\n"));
  const folder = new WorkFolder();
  const script = `${genesis}\n${run.replace("&& geth", "&& exec geth")} ${FREE_PORTS}`;
  const geth = startChild("sh", ["-e", "-c", script.replace(/\bgeth /g, `'${findNode("geth")}' `)], {
    cwd: folder.path,
  });
  const ended = once(geth, "close");
  try {
    const port = await within(
      "geth to listen",
      new Promise<string>(resolve => {
        createInterface(geth.stderr).on("line", line => {
          const listens = GETH.listening.rpc.exec(line);
          if (listens !== null) resolve(listens[1] as string);
        });
      }),
    );
    const flags = serve
      .replace("proofd serve ", "")
      .replace(" --port 8546", "")
      .replace(":8545", `:${port}`)
      .replace("DIR", join(folder.path, "db"))
      .replace("genesis.json", join(folder.path, "genesis.json"));
    await withFollower(flags.split(" "), async daemon => {
      await daemon.until(`block ${WAIT_BLOCKS}, and block 0 as finalized`, async () => {
        const {latest, finalized} = (await daemon.call("chain_getCoverage")).result ?? {};
        return Number(latest) >= WAIT_BLOCKS && finalized === "0x0";
      });
    });
  } finally {
    geth.kill("SIGTERM");
    await ended;
  }
});
