// AssistantService at the gateway: reads here, changes checked and forwarded.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { getAssistant, listAssistants } from "@pawl/platform/store/assistants/reads";
import {
  assistantNotFound,
  parseAssistantFilter,
  parseCreateAssistant,
  parseDeleteAssistant,
  parseUpdateAssistant,
  toWireAssistant,
} from "@pawl/platform/wire/assistant";
import { nameOf } from "@pawl/platform/wire/fields";
import {
  type AssistantService,
  GetAssistantResponseSchema,
  ListAssistantsResponseSchema,
} from "@pawl/proto/pawl/v1/assistant_service_pb";
import { forwarded } from "../request/forward.ts";
import type { ServiceParts } from "./service-parts.ts";

export const createAssistantService = ({
  pool,
  pages,
  scheduler: { assistants },
}: ServiceParts): ServiceImpl<typeof AssistantService> => ({
  createAssistant: forwarded(assistants.createAssistant, parseCreateAssistant),
  updateAssistant: forwarded(assistants.updateAssistant, parseUpdateAssistant),
  deleteAssistant: forwarded(assistants.deleteAssistant, parseDeleteAssistant),
  getAssistant: async (request) => {
    const assistantId = nameOf("assistant_id", request.assistantId);
    const found = await getAssistant(pool, { tenantId: DEFAULT_TENANT, assistantId });
    if (found === undefined) throw assistantNotFound(assistantId);
    return create(GetAssistantResponseSchema, { assistant: toWireAssistant(found) });
  },
  listAssistants: async (request) => {
    const filter = parseAssistantFilter(request);
    const { rows, nextPageToken } = await pages.page(request, (asked) =>
      listAssistants(pool, DEFAULT_TENANT, filter, asked),
    );
    return create(ListAssistantsResponseSchema, {
      assistants: rows.map(toWireAssistant),
      nextPageToken,
    });
  },
});
