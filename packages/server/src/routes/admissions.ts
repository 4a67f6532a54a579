/** A device asks for a place to train, or gives it back. */
import { certificateCodec, SERVER_PATH } from '@basa/protocol';
import { answers, bytesOf, deviceOf, fail, rememberRequest, Type, wireBytes } from '@basa/service';
import { foundTask, type RouteContext, taskParams } from './context.ts';
import { modelWithPlace } from './models.ts';
import { checkMember } from './readers.ts';

export function mountAdmissions(context: RouteContext): void {
  const { service } = context;
  const { app } = service;
  const onRequest = service.requireDevice();

  const admissionSchema = {
    summary: 'A place to train, which a device requests before it downloads the model (device)',
    params: taskParams,
    body: wireBytes('certificate'),
    response: answers(
      Type.Object({
        endsInMs: Type.Integer(),
        model: Type.Optional(Type.String({ description: 'the newest model (shownModel), in hexadecimal digits' })),
      }),
    ),
  };
  app.post(
    SERVER_PATH.admissions(':task'),
    { onRequest, schema: admissionSchema, config: { begins: true } },
    async (request) => {
      const task = await foundTask(context, request.params.task);
      const { user } = deviceOf(request);
      await checkMember(context, task, request, certificateCodec.decode(bytesOf(request)));
      // Only devices of the task count: others could use up its share with keys that cost nothing.
      const wait = context.taskLimits?.take(request.params.task, user, context.clock());
      if (wait !== undefined)
        fail('rate-limited', { ...wait, detail: 'the devices of this task ask for places too often' });
      rememberRequest(request);
      const model = await modelWithPlace(task);
      const { leftMs } = await task.admit(user);
      return { endsInMs: Math.floor(leftMs), ...model };
    },
  );

  const discardSchema = {
    summary: 'Gives back an unused place (device)',
    params: taskParams,
    response: answers(Type.Object({})),
  };
  app.delete(SERVER_PATH.admissions(':task'), { onRequest, schema: discardSchema }, async (request) => {
    const task = await foundTask(context, request.params.task);
    await task.admission.discard(deviceOf(request).user);
    return {};
  });
}
