// The commands about assistants, as the scheduler serves them to gateways.

import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { serve, type ServedService } from "@pawl/platform/rpc/implementation";
import {
  parseCreateAssistant,
  parseDeleteAssistant,
  parseUpdateAssistant,
  toWireAssistant,
} from "@pawl/platform/wire/assistant";
import { AssistantService } from "@pawl/proto/pawl/v1/assistant_service_pb";
import {
  type AssistantCommandParts,
  createAssistant,
  deleteAssistant,
  updateAssistant,
} from "./assistants.ts";

const TENANT = DEFAULT_TENANT;

export const assistantCommands = (parts: AssistantCommandParts): ServedService =>
  serve(AssistantService, {
    createAssistant: async (request) => ({
      assistant: toWireAssistant(
        await createAssistant(parts, TENANT, parseCreateAssistant(request)),
      ),
    }),
    updateAssistant: async (request) => ({
      assistant: toWireAssistant(
        await updateAssistant(parts, TENANT, parseUpdateAssistant(request)),
      ),
    }),
    deleteAssistant: async (request) => {
      await deleteAssistant(parts, TENANT, parseDeleteAssistant(request));
      return {};
    },
  });
