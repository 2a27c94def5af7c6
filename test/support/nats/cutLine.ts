/** A TCP line between two programs that a test can cut, as a switch or a firewall does: nobody is told. */
import {type AddressInfo, connect, createServer, type Server, type Socket} from "node:net";
import "../processes/testProcess.ts";
import {once} from "../wait.ts";

export class CutLine {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private isCut = false;

  private constructor(private readonly target: number) {
    this.server = createServer(socket => this.join(socket));
  }

  /** @param target - the port that the line leads to */
  static async to(target: number): Promise<CutLine> {
    const line = new CutLine(target);
    line.server.listen(0, "127.0.0.1");
    await once(line.server, "listening");
    return line;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** From now on nothing goes through. Connections stay open and silent, and so do new ones. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) silence(socket);
  }

  /** New connections go through again. The old ones stay silent for ever. */
  heal(): void {
    this.isCut = false;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, "close");
  }

  private join(socket: Socket): void {
    this.keep(socket);
    if (this.isCut) {
      silence(socket);
      return;
    }
    const other = connect(this.target, "127.0.0.1");
    this.keep(other);
    const isCut = (): boolean => socket.isPaused();
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      from.pipe(to);
      // A server that dies closes its end, which nobody sees on a line that is cut.
      from.on("close", () => isCut() || to.destroy());
    }
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.on("error", () => {}); // "close" follows
    socket.on("close", () => this.sockets.delete(socket));
  }
}

function silence(socket: Socket): void {
  socket.unpipe();
  socket.pause();
}
