/** Turns the answers of a task into pieces of its requests' responses, and counts the calls. */
import {answerStart} from "../../workers/messages/answers.ts";
import type {CallTally} from "../observe/callTally.ts";
import type {TroubleLog} from "../observe/troubleLog.ts";
import {callsOf, type LanePlace} from "../request/requestCalls.ts";
import type {Piece, TaskAnswers, TaskText} from "../request/taskText.ts";
import {createFailureError} from "../rpc/failure.ts";
import {encodeError, type RpcError} from "../rpc/rpcError.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import {assembleAnswers, assembleErrors, type CallEncoder, type Segment} from "./segment.ts";

export interface AnsweredTask {
  readonly answers: TaskAnswers;
  /** Of all answers. */
  readonly text: TaskText;
}

export class Answering {
  constructor(
    private readonly tally: CallTally,
    private readonly trouble: TroubleLog,
  ) {}

  /**
   * Makes one segment's part of its request's response.
   *
   * @param base - index of the segment's first call among the task's calls
   */
  assemble(request: PendingRequest, segment: Segment, {answers, text}: AnsweredTask, base: number): Piece[] {
    const {calls, record} = request;
    const {ends, codes, failures} = answers;
    const encoder: CallEncoder = {
      noteAnswer: ({name}, call) => {
        const code = codes?.[call] ?? 0;
        this.tally.add(name, code);
        if (code !== 0) record.noteCode(code);
      },
      encodeFailure: (place, call, idText) => {
        const failure = failures.find(one => one.call === call);
        const error =
          createFailureError(failure, request.head) ?? this.trouble.reportFailure(failure, record.id);
        return this.encodeError(request, place, idText, error);
      },
    };
    const pieces = assembleAnswers(calls, segment, {text, ends}, base, encoder);
    const {isBytes} = callsOf(calls, segment.lane);
    if (isBytes && (ends[base] as number) > answerStart(ends, base)) request.reply.sendAsBytes();
    return pieces;
  }

  /** Answers every call of the segment with the error. Default: an internal one, whose cause is in the log only. */
  assembleErrors(
    request: PendingRequest,
    segment: Segment,
    error = this.trouble.createInternalError(request.record.id),
  ): Piece[] {
    return assembleErrors(request.calls, segment, (place, idText) =>
      this.encodeError(request, place, idText, error),
    );
  }

  /** Encodes the one error of a request of which no call is answered, without a comma. */
  encodeRefusal(request: PendingRequest, error: RpcError): string {
    const {calls, isBatch} = request;
    const place = calls.places.find(one => typeof one !== "string") as LanePlace;
    const idText = isBatch ? "null" : (callsOf(calls, place.lane).ids[0] as string);
    return this.encodeError(request, place, idText, error);
  }

  private encodeError({record}: PendingRequest, {name}: LanePlace, idText: string, error: RpcError): string {
    this.tally.add(name, error.code);
    record.noteCode(error.code);
    return encodeError(idText, error);
  }
}
