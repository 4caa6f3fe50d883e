#include "batch/image.h"

#include "base/arguments.h"
#include "base/errors.h"
#include "base/module.h"

/* One number for each channel; NULL for None. */
static int take_channels(const double **numbers, double room[4], PyObject *tuple) {
    *numbers = NULL;
    if (tuple == Py_None) return 1;
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 0) return 0;
    if (count < 1 || count > 4) {
        PyErr_SetString(PyExc_ValueError, "mean and std have a number for each channel");
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        room[i] = PyFloat_AsDouble(PyTuple_GetItem(tuple, i));
        if (PyErr_Occurred()) return 0;
    }
    *numbers = room;
    return 1;
}

/* Loads the shared objects of decoders. */
static int take_decoders(struct image_spec *spec, PyObject *paths) {
    Py_ssize_t count = PyTuple_Size(paths);
    if (count < 0) return 0;
    if (count > IMAGE_DECODERS_MAX) {
        PyErr_Format(PyExc_ValueError, "an image has at most %d decoders", IMAGE_DECODERS_MAX);
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *path = NULL;
        const recmap_image_decoder *decoder = NULL;
        recmap_error error = RECMAP_ERROR_INIT;
        if (!take_path(PyTuple_GetItem(paths, i), &path)) return 0;
        recmap_status status = recmap_image_decoder_load(&decoder, PyBytes_AsString(path), &error);
        Py_DECREF(path);
        if (status != RECMAP_OK) return raise_error(&error) != NULL;
        spec->decoders[i] = *decoder;
    }
    spec->image.decoders = spec->decoders;
    spec->image.decoder_count = (size_t)count;
    return 1;
}

int take_image(struct image_spec *spec, PyObject *tuple) {
    recmap_image *image = &spec->image;
    int mode, layout, crop, fill, interpolation;
    PyObject *mean, *std, *decoders;
    *spec = (struct image_spec){.image = {.version = RECMAP_IMAGE_VERSION}};
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "an image must be a tuple");
        return 0;
    }
    if (!PyArg_ParseTuple(tuple, "IIiii(dd)(dd)IIidippsO&OOO!", &image->height, &image->width,
                          &mode, &layout, &crop, &image->scale[0], &image->scale[1],
                          &image->ratio[0], &image->ratio[1], &image->resize, &image->padding,
                          &fill, &image->flip, &interpolation, &image->no_antialias,
                          &image->ignores_exif, &image->draw, take_uint64, &image->max_pixels,
                          &mean, &std, &PyTuple_Type, &decoders))
        return 0;
    image->mode = (recmap_image_mode)mode;
    image->layout = (recmap_image_layout)layout;
    image->crop = (recmap_crop)crop;
    image->fill = (uint8_t)fill;
    image->interpolation = (recmap_interpolation)interpolation;
    return take_channels(&image->mean, spec->mean, mean) &&
           take_channels(&image->std, spec->std, std) && take_decoders(spec, decoders);
}

static const char *format_name(recmap_image_format format) {
    switch (format) {
    case RECMAP_IMAGE_PNG: return "png";
    case RECMAP_IMAGE_WEBP: return "webp";
    default: return "jpeg";
    }
}

/* image_info(data) -> (format, height, width, mode, depth, orientation) */
PyObject *image_info(PyObject *module, PyObject *data) {
    (void)module;
    Py_buffer buffer;
    recmap_image_info info;
    recmap_error error = RECMAP_ERROR_INIT;
    if (PyObject_GetBuffer(data, &buffer, PyBUF_C_CONTIGUOUS) < 0) return NULL;
    recmap_status status = recmap_image_describe(&info, buffer.buf, (size_t)buffer.len, &error);
    PyBuffer_Release(&buffer);
    if (status != RECMAP_OK) return raise_error(&error);
    return Py_BuildValue("(sIIsII)", format_name(info.format), info.height, info.width, info.mode,
                         info.depth, info.orientation);
}

/* image_size(data, element, image) -> (height, width) */
PyObject *image_size(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *tuple;
    Py_buffer data;
    const char *element;
    if (!PyArg_ParseTuple(arguments, "y*sO:image_size", &data, &element, &tuple)) return NULL;
    struct image_spec spec;
    uint32_t height, width;
    recmap_error error = RECMAP_ERROR_INIT;
    int taken = take_image(&spec, tuple);
    recmap_status status = RECMAP_OK;
    if (taken) {
        spec.image.element = recmap_element_of_name(element);
        status =
            recmap_image_size(&height, &width, &spec.image, data.buf, (size_t)data.len, &error);
    }
    PyBuffer_Release(&data);
    if (!taken) return NULL;
    if (status != RECMAP_OK) return raise_error(&error);
    return Py_BuildValue("(II)", height, width);
}

/* image_thumbnail(data, side) -> the bytes of a PNG. Releases the GIL. */
PyObject *image_thumbnail(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer data;
    unsigned side;
    recmap_text png = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    PyObject *bytes = NULL;
    if (!PyArg_ParseTuple(arguments, "y*I:image_thumbnail", &data, &side)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = recmap_image_thumbnail(&png, data.buf, (size_t)data.len, side, NULL, 0, &error);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&data);
    if (status == RECMAP_OK) bytes = PyBytes_FromStringAndSize(png.data, (Py_ssize_t)png.size);
    else raise_error(&error);
    recmap_text_deinit(&png);
    return bytes;
}

static int take_draw(recmap_image_draw *draw, PyObject *tuple) {
    PyObject *position;
    if (!PyArg_ParseTuple(tuple, "O&O&O&O:draw", take_uint64, &draw->seed, take_uint64,
                          &draw->epoch, take_uint64, &draw->number, &position))
        return 0;
    draw->position = RECMAP_NO_RECORD;
    return position == Py_None || take_uint64(position, &draw->position);
}

/* Releases the GIL: a large picture takes a tenth of a second. */
static recmap_status decode(Py_buffer *out, const Py_buffer *data, const recmap_image *image,
                            const recmap_image_draw *draw, recmap_error *error) {
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status = recmap_image_decode(out->buf, (size_t)out->len, image, data->buf, (size_t)data->len,
                                 draw, error);
    Py_END_ALLOW_THREADS
    return status;
}

/* image_decode(out, data, element, image, (seed, epoch, number, position or None) or None) */
PyObject *image_decode(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *tuple, *drawn;
    Py_buffer out, data;
    const char *element;
    if (!PyArg_ParseTuple(arguments, "w*y*sOO:image_decode", &out, &data, &element, &tuple, &drawn))
        return NULL;
    struct image_spec spec;
    recmap_image_draw draw;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    int taken = take_image(&spec, tuple) && (drawn == Py_None || take_draw(&draw, drawn));
    if (taken) {
        spec.image.element = recmap_element_of_name(element);
        status = decode(&out, &data, &spec.image, drawn == Py_None ? NULL : &draw, &error);
    }
    PyBuffer_Release(&data);
    PyBuffer_Release(&out);
    if (!taken) return NULL;
    if (status != RECMAP_OK) return raise_error(&error);
    Py_RETURN_NONE;
}
