// Two mistakes that the validation layer reports, as docs/layers.md shows them. Prints nothing itself.
#include "client.h"

int main(void) {
  struct client client;
  client_driver(&client);
  ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  OK(zeContextCreate(client.driver, &context_desc, &client.context));

  // A bit that no flag has.
  ze_command_queue_desc_t queue_desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  queue_desc.flags = 0x40;
  ze_command_queue_handle_t queue;
  CHECK(zeCommandQueueCreate(client.context, client.device, &queue_desc, &queue) == ZE_RESULT_ERROR_INVALID_ENUMERATION);

  // A list that is used after its end.
  ze_command_list_desc_t list_desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
  OK(zeCommandListCreate(client.context, client.device, &list_desc, &client.list));
  OK(zeCommandListDestroy(client.list));
  CHECK(zeCommandListClose(client.list) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);

  OK(zeContextDestroy(client.context));
  return 0;
}
