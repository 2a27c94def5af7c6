/** Runs podman beside a test, and asks its containers. */
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {AskedService} from "../support/http/askedService.ts";
import {type Finished, runChild} from "../support/processes/childProcesses.ts";
import {waitUntil} from "../support/wait.ts";
import type {Podman} from "./podman.ts";

/** Whatever it ends with. */
export function tryToRun({environment}: Podman, ...args: readonly string[]): Promise<Finished> {
  return runChild("podman", args, {env: environment});
}

/** @returns its output. @throws AssertionError with what it said if it failed */
export async function run(podman: Podman, ...args: readonly string[]): Promise<string> {
  const {code, stdout, stderr} = await tryToRun(podman, ...args);
  assert.equal(code, 0, `podman ${args.join(" ")}\n${stdout}${stderr}`);
  return stdout.trim();
}

/** A container that answers HTTP on its own address. */
export class Container extends AskedService {
  private constructor(
    private readonly podman: Podman,
    readonly name: string,
    readonly url: string,
  ) {
    super();
  }

  /** Starts one. @param args - of podman run: flags, the image, its arguments */
  static async start(podman: Podman, name: string, ...args: readonly string[]): Promise<Container> {
    await run(podman, "run", "--detach", "--name", name, ...args);
    return Container.find(podman, name);
  }

  /** One that runs, once it listens. @param port - 9545 has the metrics */
  static async find(podman: Podman, name: string, port = 8545): Promise<Container> {
    const format = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
    let url = "";
    await waitUntil(`the container ${name} to listen on ${port}`, async () => {
      // One that failed, as where its brokers are not up yet, has another address after its restart, and none before.
      const own = await run(podman, "inspect", "--format", `{{.NetworkSettings.IPAddress}} ${format}`, name);
      const [address = ""] = own.split(" ").filter(one => one !== "");
      url = `http://${address}:${port}`;
      return fetch(url)
        .then(answer => answer.arrayBuffer()) // else its connection stays open
        .then(
          () => true,
          () => false,
        );
    });
    return new Container(podman, name, url);
  }

  override get stderr(): string {
    return spawnSync("podman", ["logs", this.name], {encoding: "utf8", env: this.podman.environment}).stderr;
  }

  /** As `docker stop` and Kubernetes do, with more time for a busy machine. @returns the exit code */
  async stop(): Promise<number> {
    await run(this.podman, "stop", "--time", "100", this.name);
    return Number(await run(this.podman, "inspect", "--format", "{{.State.ExitCode}}", this.name));
  }
}
