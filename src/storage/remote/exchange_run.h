/* Exchanges with services that issue credentials, with libcurl: an exchange_function. */
#ifndef RECMAP_STORAGE_REMOTE_EXCHANGE_RUN_H
#define RECMAP_STORAGE_REMOTE_EXCHANGE_RUN_H

#include "storage/credentials/exchange.h"

exchange_function exchange_run;

#endif
