/** Turns the answers of a task into pieces of its requests' responses, and counts the calls. */
import {answerStart} from "../../workers/messages/answers.ts";
import type {CallTally} from "../observe/callTally.ts";
import type {TroubleLog} from "../observe/troubleLog.ts";
import {createFailureError} from "../rpc/failure.ts";
import {callsOf} from "../rpc/requestCalls.ts";
import {encodeError, type RpcError} from "../rpc/rpcError.ts";
import {
  assembleAnswers,
  assembleErrors,
  countMethods,
  type EncodeFailure,
  type Segment,
} from "../rpc/segment.ts";
import type {Piece, TaskAnswers, TaskText} from "../rpc/taskText.ts";
import type {PendingRequest} from "./pendingRequest.ts";

export class Answering {
  constructor(
    private readonly tally: CallTally,
    private readonly trouble: TroubleLog,
  ) {}

  /**
   * Makes one segment's part of its request's response.
   *
   * @param text - of all answers of the task
   * @param base - index of the segment's first call among the task's calls
   */
  assemble(
    request: PendingRequest,
    segment: Segment,
    answers: TaskAnswers,
    text: TaskText,
    base: number,
  ): Piece[] {
    const {calls} = request;
    const shared = {text, ends: answers.ends};
    const pieces = assembleAnswers(calls, segment, shared, base, this.createEncoder(request, answers));
    const {isBytes} = callsOf(calls, segment.lane);
    if (isBytes && answers.ends[base] > answerStart(answers.ends, base)) request.reply.sendAsBytes();
    this.countAnswers(request, segment, answers, base);
    return pieces;
  }

  private createEncoder(request: PendingRequest, {failures}: TaskAnswers): EncodeFailure {
    return ({name}, call, idText) => {
      const failure = failures.find(one => one.call === call);
      const error =
        createFailureError(failure, request.head) ?? this.trouble.reportFailure(failure, request.id);
      this.tally.add(name, error.code, 1);
      request.record.noteCode(error.code);
      return encodeError(idText, error);
    };
  }

  assembleErrors(request: PendingRequest, segment: Segment, error: RpcError): Piece[] {
    this.countErrors(request, segment, error);
    return assembleErrors(request.calls, segment, idText => encodeError(idText, error));
  }

  /** Answers every call of the segment with an internal error. The cause is in the log only. */
  assembleFault(request: PendingRequest, segment: Segment): Piece[] {
    return this.assembleErrors(request, segment, this.trouble.createInternalError(request.id));
  }

  /** Encodes an error for the only call of a request that is not a batch, without a comma. */
  encodeOnlyError(request: PendingRequest, segment: Segment, error: RpcError): string {
    this.countErrors(request, segment, error);
    return encodeError(request.idOf(segment), error);
  }

  private countErrors(request: PendingRequest, segment: Segment, error: RpcError): void {
    request.record.noteCode(error.code);
    for (const [name, count] of countMethods(request.calls, segment)) this.tally.add(name, error.code, count);
  }

  /** Counts the calls that have a range in the task's text. The others have failed and are already counted. */
  private countAnswers(
    {calls: {places}, record}: PendingRequest,
    {firstPlace, endPlace}: Segment,
    {ends, codes}: TaskAnswers,
    base: number,
  ): void {
    let call = base;
    for (let at = firstPlace; at < endPlace; at++) {
      const place = places[at];
      if (typeof place === "string") continue;
      const isAnswered = ends[call] > answerStart(ends, call);
      const code = codes?.[call] ?? 0;
      if (isAnswered) this.tally.add(place.name, code, 1);
      if (code !== 0) record.noteCode(code);
      call++;
    }
  }
}
