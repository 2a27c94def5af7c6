/** A nats-server with JetStream, on this machine's disk: what a feed needs of a cluster, without the other nodes. */
import {findProgram, ProgramMissing} from "../program/foundProgram.ts";
import {type ServerProcess, startServer} from "../served/serverProcess.ts";

/** @param folder - of its streams. @throws ProgramMissing if nats-server is not in PATH */
export function startNats(folder: string): Promise<ServerProcess> {
  const command = findProgram("nats-server");
  if (command === undefined)
    throw new ProgramMissing("nats-server is not in PATH (Debian: apt-get install nats-server)");
  return startServer({
    name: "nats-server",
    command,
    // It takes a port that is free.
    args: ["-a", "127.0.0.1", "-p", "-1", "-js", "-sd", folder],
    listening: /Listening for client connections on ([0-9.:]+)\s/,
  });
}
